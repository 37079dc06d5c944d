"""Histories that others recorded, as a campaign."""
