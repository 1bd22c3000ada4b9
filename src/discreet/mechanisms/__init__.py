"""Mechanisms: one file each, with its theorem."""
