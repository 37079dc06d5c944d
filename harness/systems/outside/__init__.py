"""Systems of any protocol, of which nothing is known but what is seen from outside (docs/systems.md)."""
