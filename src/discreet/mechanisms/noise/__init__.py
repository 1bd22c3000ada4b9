"""Mechanisms that add noise to exact integers."""
