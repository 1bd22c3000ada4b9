"""The project as text: its source, its pages, and the rules that both keep to."""
