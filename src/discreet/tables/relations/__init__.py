"""The operators below an aggregate, one file each. Each is owner-local, and there are no others."""
