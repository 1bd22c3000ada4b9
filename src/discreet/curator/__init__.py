"""The online, trusted model: SQL in, private answers out. ``answer.py`` is the life of a query."""
