"""What lies below the aggregate: the rows that count, one part of SQL in each file."""
