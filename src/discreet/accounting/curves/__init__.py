"""Rényi curves: for each order, how far apart two neighbours' outputs may be."""
