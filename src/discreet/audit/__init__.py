"""Does it hold? Exact verifier, bounds from samples, record and replay, a pytest plugin."""
