"""What a loss means for people: sentences, pictures, and what others published."""
