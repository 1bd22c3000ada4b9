"""The parts of ``discreet.toml``, one file each, and the lines on which they stand."""
