"""The logs as tables: DuckDB, Parquet, and logs that Inspect reads."""
