"""Who plays in a scene, and a fault at one of them."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tidemark.harness.search.hunt.kinds import some_fault
from tidemark.nemesis import Fault
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import MS


def cast(rng: Random, cluster: ClusterSpec) -> tuple[str, str, str]:
    """Three brokers, different ones as far as there are so many."""
    ids = list(cluster.broker_ids())
    rng.shuffle(ids)
    one, other, third = (f"b{ids[place % len(ids)]}" for place in range(3))
    return one, other, third


def on(rng: Random, kind: str, at: int, cluster: ClusterSpec, target: str, lasts: int | None = None) -> Fault:
    """A fault at this broker; how long it lasts is drawn, if nobody says."""
    return replace(some_fault(rng, kind, at, cluster, lasts), target=target)


def leads_before(rng: Random, at: int, cluster: ClusterSpec, node: str) -> Fault:
    """The broker is elected in time to lead when a scene begins at `at`."""
    return on(rng, "forced-election", max(at - 60 * MS, 20 * MS), cluster, node, 0)
