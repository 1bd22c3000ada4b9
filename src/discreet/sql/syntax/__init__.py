"""What a query is written in: the nodes of the parser, and the options of its text."""
