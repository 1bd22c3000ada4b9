"""How quick and how exact we are, beside others: ``make bench SUITE=import``."""
