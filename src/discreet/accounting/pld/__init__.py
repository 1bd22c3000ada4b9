"""Privacy-loss distributions: curves of many events together, enclosed from both sides."""
