"""The laws of the privacy loss: by their tails, by their atoms, and on a grid."""
