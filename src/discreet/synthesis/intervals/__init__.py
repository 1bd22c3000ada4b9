"""Counts of intervals and boxes: how many rows are between here and there."""
