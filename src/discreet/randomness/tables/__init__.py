"""The integer tables that noise is drawn from: laws, blocks, and what settles a boundary."""
