"""What of a plan is no fault: how much a fetch brings, how clients send and wait, how many brokers there are.

All of it is part of the plan, so that whoever plays the plan has it too.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tidemark.nemesis import PROFILES, REASSIGNMENT, Plan, cluster_of_plans
from tidemark.nemesis.kinds import DELETIONS
from tidemark.nemesis.plan import WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import MS

SHAPES = ((4, 4), (5, 5), (4, 3), (5, 3), (2, 2))
"""Brokers and replicas, where nobody asked for any."""
_GROUPS = ((5, 5), (5, 5), (4, 4), (2, 2))
"""The same of servers that vote, all of which do: with five, two have voted for nobody when one is elected."""
_ODD_MAJORITIES = (6, 4)
"""Two servers that may come to a group whose majority is three of four: where groups change, what needs the most care."""
INTERVALS_MS = (10, 20, 20, 40, 60, 60, 120)
"""Pauses between sends: most of what a run costs is what clients do, and few bugs need them as busy as can be."""
_SMALL_FETCHES, _PATIENT, _BURSTS, _TWO_PARTITIONS = 0.1, 0.1, 0.15, 0.1
_ANOTHER_SHAPE, _VOTERS_SHAPED, _GROUPS_SHAPED = 0.1, 0.2, 0.5
"""How often there are other numbers of brokers and replicas: of brokers, of servers that vote, and of those whose group changes."""
_REPEATS = 0.1


class Circumstances:
    """Draws them.

    Args:
        cluster: as it was asked for.
        profile: of the hunt.
        free: whether the number of brokers, replicas and partitions was left to the hunt.
        votes: whether servers elect their leaders themselves.
        plain: whether a script is to tell what happened: of one partition, and of batches that are sent once.
    """

    def __init__(
        self, cluster: ClusterSpec, profile: str, *, free: bool, votes: bool = False, plain: bool = False
    ) -> None:
        self._cluster = cluster_of_plans(profile, cluster)
        self._profile = profile
        self._free = free
        self._shapes = _GROUPS if votes else SHAPES
        self._groups_change = votes and REASSIGNMENT in PROFILES[profile]
        self._shaped = _GROUPS_SHAPED if self._groups_change else _VOTERS_SHAPED if votes else _ANOTHER_SHAPE
        self._plain = plain
        # Where records are deleted a leader may not have any more what is sent again.
        self._may_repeat = not plain and not {*DELETIONS} & {*PROFILES[profile]}
        self._consumers = 3 if votes else 1  # one of them reads from a leader that was deposed and does not know

    def cluster(self, rng: Random) -> ClusterSpec:
        """As asked for; now and then with other numbers of brokers and replicas, with two partitions (what is done for one may be
        forgotten for the other), or with fetches of one or two batches.
        """
        cluster = self._cluster
        if self._free and rng.random() < self._shaped:
            brokers, factor = _ODD_MAJORITIES if self._groups_change else rng.choice(self._shapes)
            if cluster.settings.min_isr <= factor:
                shaped = replace(cluster, brokers=brokers, replication_factor=factor)
                cluster = cluster_of_plans(self._profile, shaped)
        if self._free and not self._plain and cluster.partitions == 1 and rng.random() < _TWO_PARTITIONS:
            cluster = replace(cluster, partitions=2)
        if rng.random() < _SMALL_FETCHES:
            cluster = replace(cluster, settings=replace(cluster.settings, max_fetch_batches=rng.choice((1, 2))))
        return cluster

    def workload(self, rng: Random, cluster: ClusterSpec) -> WorkloadSpec:
        """Busy clients; some send in bursts, some are more patient than the brokers, whose own time-outs they hear, and some send
        again what they have had no answer to.
        """
        work = WorkloadSpec(
            producers=2,
            consumers=self._consumers,
            interval_us=rng.choice(INTERVALS_MS) * MS,
            batch=rng.choice((1, 1, 3)),
        )
        if rng.random() < _BURSTS:
            work = replace(work, burst=rng.choice((3, 5, 10)))
        waits = cluster.settings.produce_timeout_us
        if rng.random() < _PATIENT:
            work = replace(work, patience_us=rng.choice((2, 3)) * waits)
        if self._may_repeat and rng.random() < _REPEATS:
            work = replace(work, patience_us=rng.choice((1, 2)) * waits, again_us=int(waits * rng.uniform(0.1, 0.5)))
        return work

    def otherwise(self, rng: Random, plan: Plan) -> Plan:
        """The plan under other circumstances."""
        cluster = self.cluster(rng)
        if not self._free or rng.random() < 0.5:
            cluster = replace(plan.cluster, settings=cluster.settings)
        return replace(plan, cluster=cluster, workload=self.workload(rng, cluster), faults=())
