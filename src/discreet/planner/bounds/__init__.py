"""Lower bounds: what nobody can do, for each with where it holds."""
