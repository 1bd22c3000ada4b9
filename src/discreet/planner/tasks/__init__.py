"""Tasks: what people want to publish, what it takes, and what nobody can do about it."""
