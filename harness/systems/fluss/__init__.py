"""Apache Fluss as a system under test: a log table with one bucket is a log."""
