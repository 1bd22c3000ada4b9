"""Estimates: what an answer shows, worked out from noisy numbers alone. All of it is public."""
