"""Engines, one folder each: one renders a bounded plan, opens its sources, and returns integers."""
