"""Clients that commit offsets of groups without members, and beside them a group whose members come and go."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from tidemark.harness.clients.group_members import come_and_go
from tidemark.harness.clients.group_offsets import GroupOffsets
from tidemark.harness.clients.wire_client import split_name
from tidemark.harness.systems.outside.connected import addresses_of
from tidemark.harness.systems.outside.object_workload import ObjectClients

if TYPE_CHECKING:
    from tidemark.harness.clients.workload import WorkloadOrder


class GroupOffsetClients(ObjectClients):
    """Implements ``Workload``.

    Args:
        order: what the run wants; its plan's object is the offsets of groups.
        members: whether brokers have groups that join as KIP-848 has it.
    """

    def __init__(self, order: WorkloadOrder, *, members: bool) -> None:
        cluster = order.plan.cluster
        partition, patience_s = next(iter(cluster.assignment())), cluster.settings.produce_timeout_us / 1e6
        super().__init__(order, lambda: GroupOffsets(partition, patience_s))
        self._members, self._topic = members, split_name(partition)[0]
        self._of_members = addresses_of(order.addresses), Random(f"{order.plan.noise_seed}/members")

    def start(self) -> None:
        """Begin all."""
        super().start()
        if self._members:
            addresses, noise = self._of_members
            self._threads.begin("members", lambda: come_and_go(addresses, self._topic, noise, self._threads.stopping))
