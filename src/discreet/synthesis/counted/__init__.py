"""What is counted: rows by the cells of their values. The counts are private, the cells public."""
