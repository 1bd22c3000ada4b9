"""From text to a question: what is read, what is meant, and what is refused."""
