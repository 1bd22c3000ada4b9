"""What is measured. A program runs in our environment or a peer's, and prints one JSON object."""
