"""What dishonest people can do to estimates, and which of their reports are caught."""
