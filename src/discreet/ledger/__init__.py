"""Who spent what: budgets, the charge-first gate, and a durable chain of every charge."""
