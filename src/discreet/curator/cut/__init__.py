"""What limits and clamps leave out of an answer, as bounds that total intervals are made of."""
