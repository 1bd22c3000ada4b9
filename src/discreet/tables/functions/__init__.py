"""The total functions that a query may use, and how calls are made of them. There are no others."""
