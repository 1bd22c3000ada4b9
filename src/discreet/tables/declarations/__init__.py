"""From ``discreet.toml`` to the catalogue: one file for each part, and the lines they stand on."""
