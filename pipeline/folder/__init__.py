"""A campaign's folder: manifest, records, tables, and what else is read off it without an engine."""
