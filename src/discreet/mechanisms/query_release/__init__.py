"""Mechanisms that answer many counting queries on an enumerated universe at one price."""
