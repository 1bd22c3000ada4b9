"""Answers that another SELECT reads: as one SELECT with it."""
