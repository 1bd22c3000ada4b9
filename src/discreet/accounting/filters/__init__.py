"""May it still be spent? Filters and odometers for losses that were chosen adaptively."""
