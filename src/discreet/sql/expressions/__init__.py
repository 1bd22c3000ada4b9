"""From sqlglot's nodes to typed expressions: which nodes are read, and how each is."""
