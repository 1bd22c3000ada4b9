"""The command line: what the commands share. Each command has a file in ``commands``."""
