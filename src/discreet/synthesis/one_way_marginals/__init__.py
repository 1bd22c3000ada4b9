"""How many rows have which value, one column at a time: several noises, and which to take."""
