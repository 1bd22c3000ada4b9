"""Repeated collection: what many reports of one person tell together."""
