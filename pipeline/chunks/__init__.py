"""A chunk of a campaign's runs as files of its tables. Plain Python, without Spark."""
