"""Checkers of what clients were told, without a look at any replica."""
