"""Words that nobody listed: frequent ones are found letter by letter."""
