"""A history, and the files it comes from: JSON lines, EDN, columns."""
