"""The public answer: its view, its error bars, and its forms for people and programs."""
