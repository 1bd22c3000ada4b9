"""Plans in the SQL that DuckDB speaks. Nothing here can raise on any data."""
