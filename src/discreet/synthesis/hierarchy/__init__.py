"""Counts on several levels that agree: a nation, its regions, their districts."""
