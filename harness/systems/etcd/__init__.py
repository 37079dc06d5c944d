"""etcd, seen from outside: ``--system etcd:VERSION`` (docs/nats-etcd-fluss.md)."""
