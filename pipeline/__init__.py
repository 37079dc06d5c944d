"""Spark campaigns: many runs spread over cores or a cluster, kept in Parquet tables, compared between variants."""
