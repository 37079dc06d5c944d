"""Brokers, replicas and partitions down, and no unclean elections where they are not needed."""

from __future__ import annotations

from dataclasses import replace

from tidemark.harness.search.shrink.search import Search


def smaller_cluster(search: Search) -> None:
    """Take away what can be taken away."""
    _with(search, partitions=1)
    while _with(search, brokers=search.best.cluster.brokers - 1):
        pass
    while _with(search, replication_factor=search.best.cluster.replication_factor - 1):
        pass
    while search.best.cluster.partitions > 1 and _with(search, partitions=search.best.cluster.partitions - 1):
        pass
    if search.best.cluster.settings.unclean_election:
        settings = replace(search.best.cluster.settings, unclean_election=False)
        search.changed(cluster=replace(search.best.cluster, settings=settings))


def _with(search: Search, **changes: int) -> bool:
    """A cluster of another shape, with no more replicas than brokers, and no higher min ISR than replicas."""
    cluster = search.best.cluster
    brokers = changes.get("brokers", cluster.brokers)
    factor = min(changes.get("replication_factor", cluster.replication_factor), brokers)
    if min(brokers, factor) < 1:
        return False
    settings = replace(cluster.settings, min_isr=min(cluster.settings.min_isr, factor))
    partitions = changes.get("partitions", cluster.partitions)
    smaller = replace(cluster, brokers=brokers, replication_factor=factor, partitions=partitions, settings=settings)
    return smaller != cluster and search.changed(cluster=smaller)
