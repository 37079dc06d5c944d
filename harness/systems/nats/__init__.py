"""NATS JetStream, seen from outside: ``--system nats:VERSION[@sync-always]`` (docs/nats-etcd-fluss.md)."""
