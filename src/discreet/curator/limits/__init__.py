"""Limits and bounds that choose themselves, and what others would do."""
