"""A collection as a product: what is asked of whom, how it is randomised, and what came of it."""
