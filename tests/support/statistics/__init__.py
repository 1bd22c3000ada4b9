"""Randomness that can be replayed, and tests of it that state their false-alarm rate."""
