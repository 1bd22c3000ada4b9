"""Statements that can be answered without a private row."""
