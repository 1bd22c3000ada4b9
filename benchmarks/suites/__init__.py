"""One module for each suite. A suite declares ``CASES``."""
