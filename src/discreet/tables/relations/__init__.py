"""The operators that may stand below an aggregate. Each is owner-local, and there are no others."""
