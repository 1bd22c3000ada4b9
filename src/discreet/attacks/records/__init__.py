"""Attacks on published rows: who stands alone, who is linked, and what a class gives away."""
