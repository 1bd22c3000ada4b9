"""Exact sums and means: how much one row can move what is published, certified."""
