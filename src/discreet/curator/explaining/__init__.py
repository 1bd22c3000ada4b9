"""What an answer would do and cost, in words and in numbers, before anything is spent."""
