"""What a system must know of a run to configure its nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.nodes.core.messages import CONTROLLER
from tidemark.nodes.families import family_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.harness.machines.machine import Machine
    from tidemark.nodes.core.cluster import ClusterSpec
    from tidemark.nodes.families import AnyVariant


@dataclass(frozen=True, slots=True)
class Deployment:
    """What a system must know to configure the nodes of one run.

    Attributes:
        machines: node → machine, the controller's as 0 where there is one; at least those of the cluster's nodes.
        cluster: shape and settings.
        variant: the protocol.
        first_leader_epoch: the epoch of each partition's first leader, where it can be chosen.
        given: whether logs lie on the disks before the first start.
        workload: the object that the clients work on, if it is no log; ``transactions``, if they send to logs in these.
        follows_syncs: whether anything may happen for which it matters what was synced. To follow that slows a program down.
        two_log_directories: brokers have two, as logs are moved between them.
        log_directories_fail: one of these may, so that nothing else lies there.
        dynamic_quorum: the voters of the controllers' quorum can change (KIP-853).
    """

    machines: Mapping[int, Machine]
    cluster: ClusterSpec
    variant: AnyVariant
    first_leader_epoch: int = 0
    given: bool = False
    workload: str = ""
    follows_syncs: bool = True
    two_log_directories: bool = False
    log_directories_fail: bool = False
    dynamic_quorum: bool = False

    @property
    def nodes(self) -> tuple[int, ...]:
        """The nodes that run a process: the brokers, after node 0 if the protocol has a controller or a metadata store."""
        brokers = self.cluster.broker_ids()
        return (CONTROLLER, *brokers) if family_of(self.variant).has_node_0 else brokers

    @property
    def topics(self) -> frozenset[str]:
        """The topics of the run's partitions."""
        return frozenset(partition.rpartition("-")[0] for partition in self.cluster.assignment())
