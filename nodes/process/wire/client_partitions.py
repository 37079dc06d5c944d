"""Topics, partitions, and whether this node may serve a client's request for one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemark.nodes.core.messages import FENCED_LEADER_EPOCH, NOT_LEADER, UNKNOWN_LEADER_EPOCH
from tidemark.nodes.core.replica import Replica
from tidemark.nodes.families.voting.member import Member
from tidemark.nodes.formats.wire.names import topic_and_index

if TYPE_CHECKING:
    from tidemark.nodes.core.cluster import ClusterSpec
    from tidemark.nodes.process.wire.client_driver import ClientDriver

UNKNOWN_TOPIC_OR_PARTITION = "UNKNOWN_TOPIC_OR_PARTITION"

NO_EPOCH = -1
"""A request that names no leader epoch."""


def topics_of(cluster: ClusterSpec) -> dict[str, dict[int, tuple[int, ...]]]:
    """Topic → partition index → replicas."""
    topics: dict[str, dict[int, tuple[int, ...]]] = {}
    for name, replicas in cluster.assignment().items():
        topic, index = topic_and_index(name)
        topics.setdefault(topic, {})[index] = replicas
    return topics


class Partitions:
    """Finds the replica that a client's request is for."""

    def __init__(self, driver: ClientDriver) -> None:
        self._driver = driver
        self._names = frozenset(driver.config.cluster.assignment())
        self._anywhere = driver.config.family.reads_anywhere

    def exists(self, name: str) -> bool:
        """Whether the cluster has this partition, wherever its replicas are."""
        return name in self._names

    def led(self, name: str, epoch: int = NO_EPOCH) -> Any:  # noqa: ANN401 (a replica of any family)
        """The replica, if it leads, or the error that a client gets (``Partition.getLocalLog`` in Kafka).

        ``epoch`` is the leader epoch that the client thinks is current (KIP-320), negative if it named none.
        """
        replica = self._driver.core.replicas.get(name)
        if replica is None:
            return NOT_LEADER if name in self._names else UNKNOWN_TOPIC_OR_PARTITION
        if epoch >= 0 and epoch != replica.leader_epoch:
            return FENCED_LEADER_EPOCH if epoch < replica.leader_epoch else UNKNOWN_LEADER_EPOCH
        return replica if replica.leading else NOT_LEADER

    def readable(self, name: str, epoch: int = NO_EPOCH) -> Any:  # noqa: ANN401 (a replica of any family)
        """The replica, if consumers may read from it now, or the error; as :meth:`led`."""
        replica = self._driver.core.replicas.get(name) if self._anywhere else None
        found = replica or self.led(name, epoch)
        if isinstance(found, Member) and not found.may_serve_reads(self._driver.now_us()):
            return NOT_LEADER
        return found


def leader_in(replica: Any) -> Any:  # noqa: ANN401 (of any family)
    """Who answers producers: of Kafka's family a replica's role as leader, elsewhere the replica; None if it does not lead."""
    if isinstance(replica, Replica):
        return replica.leading
    return replica if replica is not None and replica.leading else None


def out_of_range(replica: Any, offset: int) -> bool:  # noqa: ANN401 (of any family)
    """Whether a consumer at an offset must be told to begin elsewhere; only a Kafka leader says so."""
    if not isinstance(replica, Replica):
        return False
    return replica.leading is None or replica.leading.out_of_range(offset)
