"""The laws of the privacy loss, one file a kind."""
