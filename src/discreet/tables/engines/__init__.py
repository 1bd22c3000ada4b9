"""Engines: one file each, with the SQL dialect that it speaks."""
