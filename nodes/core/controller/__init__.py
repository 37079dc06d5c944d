"""The controller: sessions, elections, ISR changes, and telling the brokers (docs/protocol.md, "Controller")."""

from tidemark.nodes.core.controller.elections import Controller
from tidemark.nodes.core.controller.kraft import KRaftController
from tidemark.nodes.core.controller.zookeeper import ZooKeeperController
from tidemark.nodes.core.settings import Settings
from tidemark.nodes.core.variant import Variant


def make_controller(
    brokers: tuple[int, ...],
    partitions: dict[str, tuple[int, ...]],
    variant: Variant,
    settings: Settings,
    first_leader_epoch: int = 0,
) -> Controller:
    """The controller that a variant has.

    Args:
        brokers: all broker ids.
        partitions: name → replicas in assignment order.
        variant: the protocol of the cluster.
        settings: the cluster's settings.
        first_leader_epoch: the epoch of each partition's first leader.
    """
    kind = KRaftController if variant.metadata_log else ZooKeeperController
    return kind(brokers, partitions, variant, settings, first_leader_epoch)


__all__ = ["Controller", "make_controller"]
