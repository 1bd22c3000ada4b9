"""What the tests of exact releases share."""
