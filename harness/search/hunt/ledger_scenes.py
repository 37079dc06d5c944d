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
    """Much of what a writer sends is lost, or late, for longer than it waits: it replaces bookies, perhaps while the store is slow,
    and fails as it confirms something.
    """
    writer, _, _ = cast(rng, cluster)
    at += _TAKES_OVER_US
    waits = cluster.settings.request_timeout_us
    fails = at + int(waits * rng.uniform(0.9, 2.5))
    away = cluster.settings.session_us + log_uniform(rng, 300 * MS, 1_500 * MS)
    last = on(rng, kinds.among(rng, "crash", "pause", "isolate"), fails, cluster, writer, away)
    gaps = on(rng, rng.choice(("lossy", "lossy", "slow")), at, cluster, writer, fails - at + waits)
    if gaps.kind == "slow":
        gaps = replace(gaps, amount=int(waits * rng.uniform(0.6, 1.2)))
    faults = [
        leads_before(rng, at - _TAKES_OVER_US, cluster, writer),
        gaps,
        replace(last, after=Trigger("hw", rng.choice((1, 1, 2, 3)), int(writer[1:]))),
    ]
    if rng.random() < 0.5:
        store = on(rng, kinds.among(rng, "slow-controller"), at + waits // 2, cluster, writer, fails - at + waits)
        faults.append(replace(store, amount=log_uniform(rng, 50 * MS, 600 * MS)))
    return faults


def fence_is_lost(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A writer is cut off from all but its clients as another takes over, perhaps over slow links, so that one step is long
    after the other; who was fenced loses its disk, or its power, and hears the writer again.
    """
    writer, fenced, other = cast(rng, cluster)
    at += _TAKES_OVER_US
    deaf = int(cluster.settings.request_timeout_us * rng.uniform(0.4, 1.1))
    takes_over = at + log_uniform(rng, 1 * MS, 60 * MS)
    lost = takes_over + log_uniform(rng, 2 * MS, deaf)
    kind = kinds.among(rng, "disk", "disk", "power", "power", "crash")
    faults = [
        leads_before(rng, at - _TAKES_OVER_US, cluster, writer),
        on(rng, "from-controller", at, cluster, writer, deaf + int(cluster.settings.session_us * rng.uniform(0.5, 3))),
        replace(on(rng, kinds.among(rng, "from-peers"), at, cluster, writer, deaf), clients=False),
        on(rng, "forced-election", takes_over, cluster, other, 0),
        on(rng, kind, lost, cluster, fenced, log_uniform(rng, 1 * MS, 100 * MS)),
    ]
    if rng.random() < 0.5:
        slow = on(rng, "slow", takes_over, cluster, other, deaf)
        faults.append(replace(slow, amount=log_uniform(rng, 20 * MS, max(deaf // 2, 21 * MS))))
    return faults


def recovered_without_one(rng: Random, kinds: Kinds, cluster: ClusterSpec, at: int) -> list[Fault]:
    """A bookie hears nothing for longer than others wait for it, as another node takes the log over and recovers a ledger."""
    writer, heir, silent = cast(rng, cluster)
    at += _TAKES_OVER_US
    takes_over = at + log_uniform(rng, 5 * MS, 300 * MS)
    lasts = takes_over - at + int(cluster.settings.request_timeout_us * rng.uniform(1.1, 4))
    kind = kinds.among(rng, "from-peers", "from-peers", "one-way-in", "one-way-out", "pause")
    faults = [
        leads_before(rng, at - _TAKES_OVER_US, cluster, writer),
        replace(on(rng, kind, at, cluster, silent, lasts), clients=False),
        on(rng, "forced-election", takes_over, cluster, heir, 0),
    ]
    if rng.random() < 0.5:
        gone = at + int(lasts * rng.uniform(0.7, 1.5))
        faults.append(on(rng, kinds.among(rng, "disk", "power", "crash"), gone, cluster, rng.choice((writer, heir))))
    return faults
