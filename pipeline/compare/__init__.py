"""Comparing the variants of a campaign, or campaigns with each other."""
