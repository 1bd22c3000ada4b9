"""How many people hold each of the values that a survey lists."""
