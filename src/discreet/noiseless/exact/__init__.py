"""Exact releases through the gate: declared by the owner, certified, noted, and only then read."""
