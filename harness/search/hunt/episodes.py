"""Young plans: short ones, in which a few hindrances, quick elections and a failure come close together.

A random plan lasts seconds, and most of its faults have nothing to do with each other. Replication breaks in an episode, mostly:
somebody is deaf, asleep or cut off, leaders change, and one fails. An episode takes half the time of a random plan to simulate.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nemesis import PROFILES, Fault, Plan
from nemesis.fault import CONTROLLER_KINDS, DELETIONS, LINK_FAULTS, REASSIGNMENT
from nemesis.plan import WorkloadSpec
from nodes.core.settings import MS

if TYPE_CHECKING:
    from random import Random

    from nodes.core.cluster import ClusterSpec

BEGIN_US = 300 * MS
"""Before this time the cluster has just begun."""
AFTER_LAST_US = 300 * MS
"""Faults end so long after the last one struck."""
LATEST_US = 6_000 * MS
MOST_FAULTS = 12

_STOPS = ("crash", "restart", "crash-all", "power", "power-all", "disk")
_ELECTIONS = ("forced-election", "forced-election", "forced-election", "fast-failover", "preferred-election")


class Kinds:
    """The kinds of fault that a profile has, by the part they play.

    Args:
        profile: a key of :data:`nemesis.PROFILES`.
    """

    def __init__(self, profile: str) -> None:
        known = PROFILES[profile]
        self.profile = profile
        self.hindrances = (*(kind for kind in LINK_FAULTS if kind in known), "pause", "pause", "crash", "restart")
        self.elections = (*_ELECTIONS, *(("unclean-election",) if "unclean-election" in known else ()))
        self.failures = (*(kind for kind in _STOPS if kind in known), "pause", "isolate")
        self.others = tuple(
            kind
            for kind in (*DELETIONS, REASSIGNMENT, *CONTROLLER_KINDS)
            if kind in known and kind != "controller-crash"
        )
        self.all = (*self.hindrances, *self.elections, *self.failures, *self.others)


def episode(rng: Random, kinds: Kinds, cluster: ClusterSpec) -> Plan:
    """A plan with one or two episodes."""
    faults: list[Fault] = []
    now = BEGIN_US
    for _ in range(rng.choice((1, 1, 2))):
        gap = _log_uniform(rng, 5 * MS, 200 * MS)
        elections = rng.choice((1, 2, 2, 3))
        for _ in range(rng.choice((1, 2, 2, 3))):
            early = rng.random() < 0.4
            at = now - int(gap * rng.random()) if early else now + int(1.2 * gap * elections * rng.random())
            lasts = (
                int(gap * (0.5 + 5 * rng.random())) if rng.random() < 0.7 else _log_uniform(rng, 30 * MS, 1_200 * MS)
            )
            faults.append(some_fault(rng, rng.choice(kinds.hindrances), max(at, 100 * MS), cluster, lasts))
        for _ in range(elections):
            now += int(gap * (0.3 + 1.4 * rng.random()))
            faults.append(some_fault(rng, rng.choice(kinds.elections), now, cluster, 0))
        if kinds.others and rng.random() < 0.5:
            at = now - int(2 * gap * rng.random())
            faults.append(some_fault(rng, rng.choice(kinds.others), max(at, 100 * MS), cluster))
        if rng.random() < 0.5:
            now += int(gap * (0.3 + 2 * rng.random()))
            faults.append(some_fault(rng, rng.choice(kinds.failures), now, cluster, role="leader"))
        now += 100 * MS
    workload = WorkloadSpec(
        producers=2, consumers=1, interval_us=rng.choice((10, 20, 60)) * MS, batch=rng.choice((1, 1, 3))
    )
    plan = Plan(0, 0, rng.randrange(1 << 48), kinds.profile, cluster, workload, (), 0)
    return with_faults(plan, faults)


def with_faults(plan: Plan, faults: list[Fault]) -> Plan:
    """The plan with these faults, in order of time, and an end soon after the last of them."""
    faults = sorted((replace(one, at_us=min(one.at_us, LATEST_US)) for one in faults), key=lambda one: one.at_us)
    end = max((one.at_us for one in faults), default=BEGIN_US) + AFTER_LAST_US
    return replace(plan, faults=tuple(faults[:MOST_FAULTS]), faults_end_us=end)


def some_fault(
    rng: Random, kind: str, at: int, cluster: ClusterSpec, lasts: int | None = None, role: str | None = None
) -> Fault:
    """A fault of a kind, with whatever it needs."""
    if lasts is None:
        lasts = _log_uniform(rng, 100 * MS, 1_600 * MS)
    amount = 0
    if kind in {"slow", "late-leadership"}:
        amount = _log_uniform(rng, 20 * MS, 600 * MS)
    elif kind == "lossy":
        amount = rng.choice((200, 500, 800))
    elif kind == "fast-failover":
        amount = _log_uniform(rng, 2 * MS, 300 * MS)
    elif kind in DELETIONS:
        amount = rng.choice((1000, rng.randrange(1, 1000)))
    target = some_target(rng, cluster)
    if kind in {"forced-election", "fast-failover"} and rng.random() < 0.7:
        target = "follower"
    elif role is not None and rng.random() < 0.7:
        target = role
    partition = rng.randrange(cluster.partitions)
    return Fault(kind, at, lasts, target, rng.randrange(12), partition, amount, clients=rng.random() < 0.1)


def some_target(rng: Random, cluster: ClusterSpec) -> str:
    """A role, or a broker by its number."""
    return rng.choice(("leader", "follower", *(f"b{broker}" for broker in cluster.broker_ids())))


def _log_uniform(rng: Random, low: int, high: int) -> int:
    """Short and long are equally likely."""
    return int(low * (high / low) ** rng.random())
