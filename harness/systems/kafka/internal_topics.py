"""The topics in which a workload's coordinators keep what they know."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tidemark.checkers.lost_offset_commit import OF_GROUPS
from tidemark.harness.systems.kafka.properties import COORDINATED, Properties
from tidemark.nemesis.object_workload import GROUP_OFFSETS
from tidemark.nemesis.plan import SHARE_GROUP, TRANSACTIONS

if TYPE_CHECKING:
    from tidemark.nodes.core.cluster import ClusterSpec


COMPACT = "compact"


class InternalTopic(NamedTuple):
    """A topic in which coordinators keep what they know.

    Attributes:
        partitions: how many it has.
        first: which broker leads the first of them, counted from 0.
        cleanup: how what is old goes.
    """

    name: str
    partitions: int
    first: int = 0
    cleanup: str = COMPACT

    def replicas(self, cluster: ClusterSpec) -> dict[str, list[int]]:
        """Partition → its replicas. It lies on brokers that clients reach: beside ZooKeeper node 0 is a broker, too."""
        brokers = cluster.broker_ids()
        return {
            f"{self.name}-{number}": [
                brokers[(self.first + number + place) % len(brokers)] for place in range(cluster.replication_factor)
            ]
            for number in range(self.partitions)
        }

    def config(self, cluster: ClusterSpec) -> Properties:
        """Its settings, as brokers would make it themselves (``TransactionStateManager``, ``GroupCoordinator``,
        ``ShareCoordinator``), but that nobody is elected who was not in sync.
        """
        return {
            "cleanup.policy": self.cleanup,
            "compression.type": "uncompressed",
            "min.insync.replicas": str(cluster.settings.min_isr),
            "unclean.leader.election.enable": "false",
        }


INTERNAL_TOPICS = {
    TRANSACTIONS: (InternalTopic("__transaction_state", COORDINATED),),
    GROUP_OFFSETS: (InternalTopic(OF_GROUPS, 1),),
    SHARE_GROUP: (
        InternalTopic(OF_GROUPS, 1, first=2),
        InternalTopic("__share_group_state", 1, first=1, cleanup="delete"),
    ),
}
"""Workload → its coordinators' topics. Of a share group the coordinator of members, that of states, and the leader of the records
are three brokers at first.
"""


def coordinators_of(workload: str, cluster: ClusterSpec) -> dict[str, list[int]]:
    """The partitions of a workload's coordinators, and their replicas; empty for one that has none."""
    found: dict[str, list[int]] = {}
    for topic in INTERNAL_TOPICS.get(workload, ()):
        found |= topic.replicas(cluster)
    return found
