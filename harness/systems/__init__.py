"""Systems that can run on a cluster's machines (docs/systems.md)."""
