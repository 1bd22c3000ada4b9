"""RAPPOR in its four variants: strings from a list, or categories; once, or again and again."""
