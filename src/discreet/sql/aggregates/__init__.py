"""The aggregate itself: which functions there are, what each is made of, and its clamp."""
