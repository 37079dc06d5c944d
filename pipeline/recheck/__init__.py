"""Judging a campaign's stored histories again."""
