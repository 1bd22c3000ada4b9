"""Mechanisms that release what would be there without any one unit, and nothing else."""
