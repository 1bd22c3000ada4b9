"""Bounded plans: what they are, and the passes over them."""
