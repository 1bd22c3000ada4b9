"""What is left, for whom, and how it is shown."""
