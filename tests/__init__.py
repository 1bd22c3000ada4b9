"""The tests, one folder for each room of the house, and the rules of the house itself."""
