"""The commands, one file each: options in, a result in two forms out."""
