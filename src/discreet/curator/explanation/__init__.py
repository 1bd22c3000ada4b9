"""What a question would do and cost, said before anything is spent."""
