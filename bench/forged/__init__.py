"""Histories made up with a truth of their own: correct ones, and ones with a single anomaly that nothing could explain."""
