"""Counts that a project publishes: one way through its gate, whatever the method."""
