"""Choosing privately: one of many by scores, the best few, and quantiles of a bounded domain."""
