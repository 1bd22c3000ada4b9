"""The doors over a network."""
