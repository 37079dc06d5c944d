"""Random plans, swarm-style: each plan first draws which kinds of fault it uses and how hard, then the faults.

Groce et al., "Swarm Testing" (ISSTA 2012): leaving features out at random finds more than always using all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from tidemark.nemesis.fault import Fault, Trigger
from tidemark.nemesis.kind import FailLogDir, Stop, between
from tidemark.nemesis.kinds import (
    ALLOWED,
    BETWEEN_DISKS,
    DAMAGES,
    DELETIONS,
    FAILING_DISKS,
    KINDS,
    MEMBERS,
    MOVES_LOGS,
    REASSIGNMENT,
    SECOND,
    UNCLEAN,
    VOTERS,
    kinds_drawn_with,
)
from tidemark.nemesis.left_behind import end_of_left_behind, left_behind
from tidemark.nemesis.long_lasting import end_of_long, with_some_long
from tidemark.nemesis.plan import Plan, WorkloadSpec
from tidemark.nemesis.profiles import kinds_of, lasts_long
from tidemark.nemesis.send import Send
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import MS

_TRIGGERS = ("append", "append", "append", "truncate", "lead", "follow", "fetched", "isr", "elect")
_AFTER_DELETION = ("log-start", "log-start", "log-start")
"""In profiles that delete, a log start that moved is one more event to wait for."""
_AFTER_MOVE = ("reassign", "reassign", "removed")
"""The same where replicas move."""
_ROLES = ("leader", "leader", "follower", "isr-member", "any")
_MOVES_LEADER = ("preferred-election", "forced-election", "fast-failover", "crash", "restart", "pause", "isolate")
_ELECTS = ("fast-failover", "fast-failover", "forced-election", "crash-all")
"""One of these is in every plan whose profile has any, at a time of its own and not waiting for an event that may never come: a run
without an election tells nothing about truncation."""
_DRAWN_FOR_EVERY_FAULT = ("slow", "lossy", "late-leadership", "fast-failover")
"""Kinds whose amounts are drawn for faults of every kind, so that a seed's plans stay what they are."""
_SILENT = 0.5
"""Share of plans, in profiles in which logs are moved, whose producers fall silent before the faults end. What a move has lost of a
log's leader epochs comes back with the next record."""
_LASTS = between(50 * MS, 3 * SECOND)


def cluster_of_plans(profile: str, cluster: ClusterSpec) -> ClusterSpec:
    """The cluster as a profile's plans have it: where replicas move, a broker more than replicas, at least."""
    if REASSIGNMENT not in kinds_of(profile):
        return cluster
    return replace(cluster, brokers=max(cluster.brokers, cluster.replication_factor + 1))


def generate_plan(seed: int, index: int, profile: str, cluster: ClusterSpec, intensity: float = 1) -> Plan:
    """The ``index``-th plan of a seed; the same arguments give the same plan anywhere.

    Args:
        seed: of the plans and of their noise.
        index: which plan of the seed.
        profile: which kinds of fault; see :func:`tidemark.nemesis.profiles.kinds_of`.
        cluster: which is told to suffer it.
        intensity: a factor on the number of faults. All else stays what it is, and so do the faults: a lower one leaves some
            out, a higher one adds some. What every plan of the profile has, such as an election, it keeps. Damage that is added
            strikes any broker.

    Raises:
        ProfileError: unknown profile.
    """
    rng = Random(f"tidemark plan/{seed}/{index}/{profile}")
    known = kinds_of(profile)
    kinds = _swarm(rng, known)
    deletions, damages, elects, leaves, often, fails, removes = (
        [kind for kind in some if kind in known]
        for some in (
            *(DELETIONS, DAMAGES, _ELECTS, kinds_drawn_with(MEMBERS), kinds_drawn_with(BETWEEN_DISKS, ALLOWED, VOTERS)),
            kinds_drawn_with(FAILING_DISKS),
            kinds_drawn_with(VOTERS),
        )
    )
    moves = REASSIGNMENT in known
    cluster = cluster_of_plans(profile, cluster)
    if moves:
        kinds += [REASSIGNMENT] * (1 + len(kinds) // 3)
        kinds += [kind for kind in known if KINDS[kind].awaits]
    kinds += (often + fails) * (1 + len(kinds) // 3)
    triggers = (*_TRIGGERS, *(_AFTER_DELETION if deletions else ()), *(_AFTER_MOVE if moves else ()))
    end = rng.randrange(2 * SECOND, 6 * SECOND)
    count = 2 + int(rng.expovariate(1 / 5))
    burst = rng.random() < 0.5
    centre = rng.randrange(SECOND // 2, end)

    def drawn(rng: Random) -> Fault:
        at = int(rng.gauss(centre, 0.4 * SECOND)) if burst else rng.randrange(SECOND // 4, end)
        return _fault(rng, rng.choice(kinds), min(max(at, SECOND // 4), end - 1), cluster, triggers)

    faults = [drawn(rng) for _ in range(min(count, 16))]
    if elects and not any(fault.kind in elects for fault in faults):
        faults.append(_fault(rng, rng.choice(elects), rng.randrange(SECOND // 2, end), cluster, triggers))
    if deletions and not any(fault.kind in DELETIONS for fault in faults):
        faults.append(_fault(rng, rng.choice(deletions), rng.randrange(SECOND // 2, end), cluster, triggers))
    if moves and all(fault.kind != REASSIGNMENT or fault.after is not None for fault in faults):
        move = _fault(rng, REASSIGNMENT, rng.randrange(SECOND // 2, end), cluster, triggers)
        faults.append(replace(move, after=None))
    for every in (leaves, often, fails):
        if every and not any(fault.kind in every for fault in faults):
            faults.append(_fault(rng, rng.choice(every), rng.randrange(SECOND // 2, end), cluster, triggers))
    for some in (elects, removes):
        if all(fault.after is not None for fault in faults if fault.kind in some):
            faults = [replace(fault, after=None) if fault.kind in some else fault for fault in faults]
    if damages:
        faults = _damaging_one(rng, faults, damages, end, cluster)
    if lasts_long(profile):
        faults = with_some_long(rng, faults, cluster.settings)
        end = max(end, end_of_long(faults, cluster.settings))
    behind = left_behind(rng, known, cluster)
    faults, end = [*faults, *behind], max(end, end_of_left_behind(behind))
    if intensity != 1:
        apart = Random(f"tidemark plan/{seed}/{index}/{profile}/intensity")  # so that all else stays as it is
        wanted = int(len(faults) * intensity + apart.random())
        faults = _some_of(
            apart, faults, wanted, (elects, deletions, [REASSIGNMENT] * moves, damages, leaves, often, fails)
        )
        faults += [drawn(apart) for _ in range(wanted - len(faults))]
    faults.sort(key=lambda fault: fault.at_us)
    workload = WorkloadSpec(
        producers=rng.choice((2, 3, 4)),
        consumers=1,
        interval_us=rng.choice((60, 120, 240, 400)) * MS,
        batch=rng.choice((1, 3, 3, 10)),
    )
    if MOVES_LOGS & {*known} and rng.random() < _SILENT:
        workload = _falls_silent(rng, workload, int(end * rng.uniform(0.2, 0.7)), cluster.partitions)
    if UNCLEAN in known and rng.random() < 0.3:
        cluster = replace(cluster, settings=replace(cluster.settings, unclean_election=True))
    return Plan(index, seed, rng.randrange(1 << 48), profile, cluster, workload, tuple(faults), end)


def _falls_silent(rng: Random, workload: WorkloadSpec, until: int, partitions: int) -> WorkloadSpec:
    """The same, but nothing is sent from then on."""
    sends = []
    for producer in range(1, workload.producers + 1):
        at = 0
        while (at := at + int(workload.interval_us * (0.5 + rng.random()))) < until:
            sends.append(Send(at, producer, rng.randrange(partitions), 1 + int(rng.random() * workload.batch)))
    return replace(workload, sends=tuple(sorted(sends, key=lambda send: send.at_us)))


def _damaging_one(rng: Random, faults: list[Fault], damages: list[str], end: int, cluster: ClusterSpec) -> list[Fault]:
    """The same, with at least one damage, and all of it to the files of one broker: a damaged majority proves nothing."""
    if not any(fault.kind in damages for fault in faults):
        faults = [*faults, _fault(rng, rng.choice(damages), rng.randrange(SECOND // 2, end), cluster, _TRIGGERS)]
    struck = f"b{rng.choice(cluster.broker_ids())}"
    waits = all(fault.after is not None for fault in faults if fault.kind in damages)
    return [
        replace(fault, target=struck, after=None if waits else fault.after) if fault.kind in damages else fault
        for fault in faults
    ]


def _some_of(rng: Random, faults: list[Fault], most: int, in_every: Sequence[Sequence[str]]) -> list[Fault]:
    """So many of the faults, by chance; of kinds that are in every plan at least one, of those that await no event if there are."""
    order = rng.sample(range(len(faults)), len(faults))
    needed = {
        min(
            (place for place in order if faults[place].kind in kinds), key=lambda place: faults[place].after is not None
        )
        for kinds in in_every
        if kinds
    }
    chosen = {*needed, *[place for place in order if place not in needed][: max(most - len(needed), 0)]}
    return [fault for place, fault in enumerate(faults) if place in chosen]


def _swarm(rng: Random, kinds: tuple[str, ...]) -> list[str]:
    share = rng.choice((0.15, 0.3, 0.5))
    chosen = [kind for kind in kinds if rng.random() < share]
    if not any(kind in _MOVES_LEADER for kind in chosen):
        chosen.append(rng.choice([kind for kind in _MOVES_LEADER if kind in kinds] or kinds))
    return chosen


def _fault(rng: Random, kind: str, at: int, cluster: ClusterSpec, triggers: tuple[str, ...]) -> Fault:
    """One fault; durations are log-uniform from 50 ms to 3 s, so that short and long ones are equally likely."""
    row = KINDS[kind]
    lasts = _LASTS(rng) + 300 * MS * isinstance(row.doing, Stop) + SECOND * isinstance(row.doing, FailLogDir)
    drawn = {name: KINDS[name].draw_amount(rng) for name in _DRAWN_FOR_EVERY_FAULT}
    amount = drawn[kind] if kind in drawn else row.draw_amount(rng)
    target = rng.choice(_ROLES)
    after = None
    if rng.random() < row.by_event:
        after = Trigger(rng.choice(row.awaits or triggers), rng.randrange(1, 4 if row.awaits else 12), 0)
    return Fault(
        kind,
        at,
        lasts,
        row.aimed_at or target,
        rng.randrange(12),
        rng.randrange(cluster.partitions),
        amount,
        clients=rng.random() < 0.2,
        after=after,
    )
