"""Instruments for the local model: exact laws of what devices do, in Python and in JavaScript."""
