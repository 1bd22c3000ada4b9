"""What was asked and what was offered: options, prices, accuracies, limits."""
