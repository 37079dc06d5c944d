"""What carries out chunks and answers questions: Spark, or this machine's processes and DuckDB."""
