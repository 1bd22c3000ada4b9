"""Events to losses: one theorem a function, exact numbers, and filters of what may be spent."""
