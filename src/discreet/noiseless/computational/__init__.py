"""Privacy against efficient adversaries: a game that can refute it, and what turns it into DP."""
