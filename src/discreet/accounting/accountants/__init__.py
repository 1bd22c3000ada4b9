"""From events to a loss: one accountant for each measure."""
