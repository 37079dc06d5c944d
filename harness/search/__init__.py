"""Searching among plans: for the least one that still shows what another one showed (``shrink``)."""
