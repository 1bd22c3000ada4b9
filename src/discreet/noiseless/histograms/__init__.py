"""Truncated histograms: counts that are published exactly, or not at all."""
