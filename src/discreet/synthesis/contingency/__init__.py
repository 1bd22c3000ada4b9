"""Tables of several columns: noise on cells, on tables, or on contrasts, and a fit to the last."""
