"""What privacy means: neighbours, contributions, losses, events, and the protocols of the house."""
