"""Exact regression lines: which averages they need, what hides a row in them, and at what price."""
