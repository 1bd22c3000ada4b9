"""What lies above the aggregate: the outputs that a query names, made of noisy numbers."""
