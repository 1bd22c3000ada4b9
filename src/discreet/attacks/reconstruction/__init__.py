"""Recovers rows from answers: many noisy counts, one exact number, or a printed table."""
