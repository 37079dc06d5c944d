"""The zoo: every bug of Kafka's replication that can be put back, with what is known of it, and how it is found."""

from tidemark.harness.zoo.entry import Entry, Exploration, ZooError, all_entries, find

__all__ = ["Entry", "Exploration", "ZooError", "all_entries", "find"]
