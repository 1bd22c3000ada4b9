"""What a question costs: how a loss is divided, which noise that buys, and how much it errs."""
