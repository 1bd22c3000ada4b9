"""What the owner declared, and where the data is."""
