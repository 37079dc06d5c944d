"""A results folder in a browser: what is in it, and campaigns while they run. On this machine only, and read only."""
