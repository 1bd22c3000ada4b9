"""Shuffling: what reports lose once nobody can tell whose they are."""
