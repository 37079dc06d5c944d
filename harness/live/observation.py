"""How the cluster stands, as its nodes say: who leads, and what keeps a partition from rest."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from harness.evidence.run_error import RunError
from harness.live.run_loop import monotonic_us
from harness.machines.errors import NodeError
from harness.runs.at_rest import PartitionView, ReplicaView
from nodes.core.messages import CONTROLLER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from harness.machines.admin_channel import AdminReply
    from harness.machines.node_control import NodeControl

FRESH_S = 0.02
"""The controller's state is not asked for more often than this."""
PATIENCE_S = 2.0
CONTROLLER_PATIENCE_S = 20.0
SAME_CLOCK_US = 100_000
"""Monotonic clocks that are closer than this are one kernel's: they count from its start."""
QUESTIONS = 5


class Observation:
    """Asks the nodes for their state.

    Args:
        controls: all nodes, the controller included.
        excused: whether a fault keeps the controller from answering; what it said last then stands.
    """

    def __init__(self, controls: Mapping[int, NodeControl], excused: Callable[[], bool] = lambda: False) -> None:
        """Nothing is known."""
        self._controls = controls
        self._excused = excused
        self._partitions: dict[str, Any] = {}
        self._asked_s = -FRESH_S

    def forget(self) -> None:
        """What is known is about to be wrong: ask again next time."""
        self._asked_s = -FRESH_S

    def partition(self, name: str) -> dict[str, Any]:
        """The controller's state of a partition, at most 20 ms old.

        Raises:
            RunError: the controller does not answer.
        """
        now = time.monotonic()
        if now - self._asked_s > FRESH_S and not (self._partitions and self._excused()):
            try:
                status = self._controls[CONTROLLER].status(CONTROLLER_PATIENCE_S)
            except NodeError as error:
                raise RunError(f"the controller does not say who leads: {error}") from None
            self._partitions = status["partitions"]
            self._asked_s = now
        return dict(self._partitions[name])

    def statuses(self, nodes: Iterable[int], patience_s: float = PATIENCE_S) -> dict[int, AdminReply | None]:
        """What these nodes say of themselves, all asked at once; None of one that does not answer in time."""
        found: dict[int, AdminReply | None] = dict.fromkeys(nodes)
        asked = {}
        for node in found:
            admin = self._controls[node].admin
            if admin.is_open:
                with suppress(NodeError):
                    asked[node] = admin.post("status")
        deadline = time.monotonic() + patience_s
        for node, future in asked.items():
            with suppress(NodeError):
                left = max(deadline - time.monotonic(), 0.001)
                found[node] = self._controls[node].admin.wait(future, "status", left)
        return found

    def views(self) -> dict[str, PartitionView]:
        """All partitions, as :mod:`harness.runs.at_rest` looks at them.

        Raises:
            RunError: the controller does not answer.
        """
        statuses = self.statuses(self._controls)
        controller = statuses.pop(CONTROLLER)
        if controller is None:
            controller = self.statuses((CONTROLLER,), CONTROLLER_PATIENCE_S)[CONTROLLER]
        if controller is None:
            raise RunError("the controller does not say who leads")
        return {name: partition_view(name, state, statuses) for name, state in controller["partitions"].items()}


def partition_view(name: str, state: Mapping[str, Any], brokers: Mapping[int, AdminReply | None]) -> PartitionView:
    """One partition.

    Args:
        name: of the partition.
        state: the controller's.
        brokers: what each says of itself, None if it does not answer.
    """
    replicas = tuple(state["replicas"])
    found: dict[int, ReplicaView | None] = {}
    for broker in replicas:
        status = brokers.get(broker)
        replica = status["partitions"].get(name) if status else None
        found[broker] = replica and ReplicaView(
            replica["role"],
            replica["leader_epoch"],
            replica["leo"],
            replica["hw"],
            tuple(replica["isr"]),
            replica["refused"],
        )
    going = state.get("removing", ())
    target = tuple(b for b in replicas if b not in going) if going or state.get("adding") else ()
    return PartitionView(
        state["leader"], state["leader_epoch"], tuple(state["isr"]), tuple(state["elr"]), replicas, found, target
    )


def compare_clocks(controls: Mapping[int, NodeControl]) -> dict[int, int]:
    """How far each node's monotonic clock is ahead of ours, µs.

    Containers share one kernel, and their clocks are exactly one clock: then all nodes get the same number, and 0 if it is ours
    too. Between machines the number is known to half the time of a question and its answer.

    Raises:
        RunError: a node does not tell its time.
    """
    measured = {node: _clock_ahead(control) for node, control in controls.items()}
    clocks: dict[int, int] = {}
    for node, ahead in measured.items():
        known = [0, *clocks.values()]
        clocks[node] = next((other for other in known if abs(ahead - other) < SAME_CLOCK_US), ahead)
    return clocks


def _clock_ahead(control: NodeControl) -> int:
    best = (1 << 62, 0)
    for _ in range(QUESTIONS):
        before = monotonic_us()
        try:
            there = int(control.status()["mono_us"])
        except NodeError as error:
            raise RunError(f"{control.name} does not tell its time: {error}") from None
        after = monotonic_us()
        best = min(best, (after - before, there - (before + after) // 2))
    return best[1]
