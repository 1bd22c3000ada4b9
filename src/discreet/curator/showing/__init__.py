"""Showing: from the outputs that a query names to aggregates, and to estimates made of them."""
