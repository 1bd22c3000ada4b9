"""The embedded engine: DuckDB."""
