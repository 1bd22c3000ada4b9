"""Two tables about the same units: one row of a unit in the first, several in the second."""
