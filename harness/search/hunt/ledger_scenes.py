"""Scenes of ledgers: bookies of which each has something else, and fences that are lost with a disk."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tidemark.harness.search.hunt.cast import cast, leads_before, on
from tidemark.harness.search.hunt.kinds import Kinds
from tidemark.nemesis import Fault, Trigger
from tidemark.nemesis.kind import log_uniform
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import MS

_TAKES_OVER_US = 400 * MS
"""Whoever is to own a log must recover it first."""


def gaps_at_bookies(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """Much of what a writer sends is lost for longer than it waits: it replaces bookies, and fails as it confirms something."""
    writer, _, _ = cast(rng, cluster)
    at += _TAKES_OVER_US
    waits = cluster.settings.request_timeout_us
    fails = at + int(waits * rng.uniform(0.9, 2.5))
    away = cluster.settings.session_us + log_uniform(rng, 300 * MS, 1_500 * MS)
    last = on(rng, kinds.among(rng, "crash", "pause", "isolate"), fails, cluster, writer, away)
    return [
        leads_before(rng, at - _TAKES_OVER_US, cluster, writer),
        on(rng, "lossy", at, cluster, writer, fails - at + waits),
        replace(last, after=Trigger("hw", rng.choice((1, 1, 2, 3)), int(writer[1:]))),
    ]


def fence_is_lost(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A writer is cut off from all but its clients as another takes over; who was fenced loses its disk, and hears it again."""
    writer, fenced, other = cast(rng, cluster)
    at += _TAKES_OVER_US
    deaf = int(cluster.settings.request_timeout_us * rng.uniform(0.4, 1.1))
    lost = at + int(deaf * rng.uniform(0.2, 0.9))
    kind = kinds.among(rng, "disk", "disk", "power", "crash")
    return [
        leads_before(rng, at - _TAKES_OVER_US, cluster, writer),
        on(rng, "from-controller", at, cluster, writer, deaf + int(cluster.settings.session_us * rng.uniform(0.5, 3))),
        replace(on(rng, kinds.among(rng, "from-peers"), at, cluster, writer, deaf), clients=False),
        on(rng, "forced-election", at + log_uniform(rng, 1 * MS, 60 * MS), cluster, other, 0),
        on(rng, kind, lost, cluster, fenced, log_uniform(rng, 1 * MS, 100 * MS)),
    ]
