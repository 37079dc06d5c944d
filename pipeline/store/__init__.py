"""Campaigns whose durable place is an object store."""
