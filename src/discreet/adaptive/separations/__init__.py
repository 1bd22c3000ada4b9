"""Separations: what can be answered at once, one by one, and adaptively, is not the same."""
