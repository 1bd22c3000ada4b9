"""Bounded plans: their aggregates, the passes over them, their work, and what an engine offers."""
