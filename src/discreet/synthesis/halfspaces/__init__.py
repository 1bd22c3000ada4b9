"""Counts of halfspaces: how many rows lie on one side of a plane."""
