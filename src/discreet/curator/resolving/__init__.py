"""From syntax tree to question, one part of SQL in each file. What is not here is refused."""
