"""Tails of normal and discrete Gaussian laws, enclosed by fractions."""
