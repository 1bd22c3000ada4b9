"""Tables of twice as many columns from answers about random parts of the rows."""
