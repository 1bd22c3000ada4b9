"""Marginals: noisy tables of some columns, a model that agrees with them, and rows of it."""
