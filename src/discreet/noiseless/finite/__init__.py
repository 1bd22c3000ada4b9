"""Definitions of privacy as checkers: on a finite model every one of them is a computation."""
