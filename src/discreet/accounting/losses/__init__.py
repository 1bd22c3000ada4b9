"""Losses beyond those of the core: bounded, Gaussian and mean-concentrated ones."""
