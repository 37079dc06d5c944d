"""Searching on the model for what goes wrong, and making it small."""
