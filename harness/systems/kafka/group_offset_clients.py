"""Clients that commit offsets of groups without members, and beside them a group whose members come and go."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import TYPE_CHECKING

from tidemark.harness.clients.group_members import come_and_go
from tidemark.harness.clients.group_offsets import GroupOffsets
from tidemark.harness.clients.wire_client import split_name
from tidemark.harness.systems.outside.object_workload import ObjectClients

if TYPE_CHECKING:
    from tidemark.harness.clients.workload import WorkloadOrder


COMMIT_S = 6.0
"""So long a client waits for an answer, at least: a coordinator gives a commit up after 5 s (``offset.commit.timeout.ms``)."""
MEMBERS = 3
"""So many come and go side by side: while some wait for followers that are cut off, the coordinator works for another."""


class GroupOffsetClients(ObjectClients):
    """Implements ``Workload``.

    Args:
        order: what the run wants; its plan's object is the offsets of groups.
        members: whether brokers have groups that join as KIP-848 has it.
    """

    def __init__(self, order: WorkloadOrder, *, members: bool) -> None:
        cluster = order.plan.cluster
        partition = next(iter(cluster.assignment()))
        patience_s = max(cluster.settings.produce_timeout_us / 1e6, COMMIT_S)
        super().__init__(order, lambda: GroupOffsets(partition, patience_s))
        self._members, self._topic = members, split_name(partition)[0]

    def start(self) -> None:
        """Begin all."""
        super().start()
        for number in range(1, MEMBERS + 1) if self._members else ():
            name = f"member{number}"
            noise = Random(f"{self._seed}/{name}")
            self._threads.begin(name, partial(come_and_go, self._addresses, self._topic, noise, self._threads.stopping))
