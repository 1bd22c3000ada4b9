"""Means and distributions of whole numbers from 0 to a most."""
