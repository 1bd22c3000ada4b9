"""How much units contribute, measured privately once and read ever after."""
