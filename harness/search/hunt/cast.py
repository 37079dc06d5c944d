"""Who plays in a scene, and a fault at one of them."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tidemark.harness.search.hunt.kinds import some_fault
from tidemark.nemesis import Fault
from tidemark.nodes.core.cluster import ClusterSpec


def cast(rng: Random, cluster: ClusterSpec) -> tuple[str, str, str]:
    """Three brokers, different ones as far as there are so many."""
    ids = list(cluster.broker_ids())
    rng.shuffle(ids)
    one, other, third = (f"b{ids[place % len(ids)]}" for place in range(3))
    return one, other, third


def on(rng: Random, kind: str, at: int, cluster: ClusterSpec, target: str, lasts: int | None = None) -> Fault:
    """A fault at this broker; how long it lasts is drawn, if nobody says."""
    return replace(some_fault(rng, kind, at, cluster, lasts), target=target)
