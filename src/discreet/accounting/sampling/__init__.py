"""What a random sample does to a loss."""
