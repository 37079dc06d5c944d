"""Kafka's wire protocol: frames, a server, outgoing connections, and what its messages mean to the core."""
