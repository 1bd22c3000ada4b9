"""The release advisor: statistics by their names, and certificates of them."""
