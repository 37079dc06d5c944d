"""etcd, seen from outside: ``--system etcd:VERSION`` (docs/systems.md)."""
