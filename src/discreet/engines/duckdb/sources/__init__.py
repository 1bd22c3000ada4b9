"""Sources: one file each for the kinds of files that a table can be read from."""
