"""NATS JetStream, seen from outside: ``--system nats:VERSION[@sync-always]`` (docs/systems.md)."""
