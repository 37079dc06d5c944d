"""Young plans: short ones, in which a few hindrances, quick elections and a failure come close together.

A random plan lasts seconds, and most of its faults have nothing to do with each other. Replication breaks in an episode, mostly:
somebody is deaf, asleep or cut off, leaders change, and one fails. An episode takes half the time of a random plan to simulate.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tidemark.harness.search.hunt.circumstances import Circumstances
from tidemark.harness.search.hunt.kinds import Kinds, some_fault, some_time
from tidemark.harness.search.hunt.scenes import some_scene, this_scene
from tidemark.nemesis import Fault, Plan
from tidemark.nemesis.kind import log_uniform
from tidemark.nemesis.long_lasting import end_of_long
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import MS

BEGIN_US = 300 * MS
"""Before this time the cluster has just begun."""
AFTER_LAST_US = 300 * MS
"""Faults end so long after the last one struck."""
LATEST_US = 6_000 * MS
MOST_FAULTS = 12
_SCENES = 0.5
"""Share of episodes that are a scene."""


def episode(rng: Random, kinds: Kinds, circumstances: Circumstances) -> Plan:
    """A plan with one or two episodes."""
    cluster = circumstances.cluster(rng)
    faults: list[Fault] = []
    now = BEGIN_US
    for _ in range(rng.choice((1, 1, 2))):
        drawn = some_scene(rng, kinds, cluster, now) if rng.random() < _SCENES else _mixture(rng, kinds, cluster, now)
        faults += drawn
        now = max(now, *(fault.at_us for fault in drawn)) + 100 * MS
    return _plan(rng, kinds, circumstances, cluster, faults)


def scene_alone(name: str, rng: Random, kinds: Kinds, circumstances: Circumstances) -> Plan:
    """A plan with one scene, and nothing else."""
    cluster = circumstances.cluster(rng)
    return _plan(rng, kinds, circumstances, cluster, this_scene(name, rng, kinds, cluster, BEGIN_US))


def _plan(rng: Random, kinds: Kinds, circumstances: Circumstances, cluster: ClusterSpec, faults: list[Fault]) -> Plan:
    workload = circumstances.workload(rng, cluster)
    plan = Plan(0, 0, rng.randrange(1 << 48), kinds.profile, cluster, workload, (), 0)
    return with_faults(plan, faults)


def _mixture(rng: Random, kinds: Kinds, cluster: ClusterSpec, now: int) -> list[Fault]:
    """Hindrances, elections, and perhaps something else and a failure."""
    faults = []
    gap = log_uniform(rng, 5 * MS, 200 * MS)
    elections = rng.choice((1, 2, 2, 3))
    for _ in range(rng.choice((1, 2, 2, 3))):
        early = rng.random() < 0.4
        at = now - int(gap * rng.random()) if early else now + int(1.2 * gap * elections * rng.random())
        lasts = int(gap * (0.5 + 5 * rng.random())) if rng.random() < 0.7 else log_uniform(rng, 30 * MS, 1_200 * MS)
        faults.append(some_fault(rng, kinds.hindrance(rng), max(at, 100 * MS), cluster, some_time(rng, cluster, lasts)))
    for _ in range(elections):
        now += int(gap * (0.3 + 1.4 * rng.random()))
        faults.append(some_fault(rng, rng.choice(kinds.elections), now, cluster, 0))
    if kinds.others and rng.random() < 0.5:
        at = now - int(2 * gap * rng.random())
        faults.append(some_fault(rng, rng.choice(kinds.others), max(at, 100 * MS), cluster))
    if rng.random() < 0.5:
        now += int(gap * (0.3 + 2 * rng.random()))
        faults.append(some_fault(rng, rng.choice(kinds.failures), now, cluster, role="leader"))
    return faults


def with_faults(plan: Plan, faults: list[Fault]) -> Plan:
    """The plan with these faults, in order of time, and an end soon after the last of them has struck, or after one that lasts long
    is over; brokers and partitions that it lacks are others.
    """
    brokers, settings = plan.cluster.brokers, plan.cluster.settings
    latest = max(LATEST_US, end_of_long([one for one in faults if one.at_us <= LATEST_US], settings))
    faults = [
        replace(one, at_us=min(one.at_us, latest), partition=one.partition % plan.cluster.partitions) for one in faults
    ]
    faults = sorted((_at_home(one, brokers) for one in faults), key=_time)
    end = max((one.at_us for one in faults), default=BEGIN_US) + AFTER_LAST_US
    end = max(end, end_of_long(faults, settings))
    return replace(plan, faults=tuple(faults[:MOST_FAULTS]), faults_end_us=end)


def _time(fault: Fault) -> int:
    return fault.at_us


def _at_home(fault: Fault, brokers: int) -> Fault:
    """The fault, at a broker that there is."""
    number = fault.target[1:]
    if not number.isdecimal() or int(number) <= brokers:
        return fault
    here = (int(number) - 1) % brokers + 1
    after = fault.after and replace(fault.after, node=here if fault.after.node else 0)
    return replace(fault, target=f"b{here}", after=after)
