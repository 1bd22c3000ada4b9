"""The total functions that a query may use, grouped by what they are about. There are no others."""
