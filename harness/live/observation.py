"""How the cluster stands, as its nodes say: who leads, and what keeps a partition from rest."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from tidemark.harness.evidence.run_error import RunError
from tidemark.harness.live.run_loop import monotonic_us
from tidemark.harness.live.state_among import state_among
from tidemark.harness.machines.admin_channel import AdminReply
from tidemark.harness.machines.errors import NodeError
from tidemark.harness.machines.node_control import NodeControl
from tidemark.harness.runs.at_rest import PartitionView, ReplicaView
from tidemark.nodes.core.messages import CONTROLLER

FRESH_S = 0.02
"""The controller's state is not asked for more often than this."""
PATIENCE_S = 2.0
CONTROLLER_PATIENCE_S = 20.0
SAME_CLOCK_US = 100_000
"""Monotonic clocks that are closer than this are one kernel's: they count from its start."""
QUESTIONS = 5


class Observation:
    """Asks the nodes for their state. Without a controller, what the brokers say is put together.

    Args:
        controls: all nodes, the controller included if there is one.
        excused: whether a fault keeps a node from answering; what it said last then stands.
        assignment: partition → replicas; where members change, those that an operator wants now.
        asks_controller: whether node 0 says how partitions stand; if it is there, unless said otherwise. A metadata store does not.
        controllers: the nodes that can say it; of several, whoever has read furthest in what is committed.

    Attributes:
        sees_leaders: whether anybody says who leads.
    """

    sees_leaders = True

    def __init__(
        self,
        controls: Mapping[int, NodeControl],
        excused: Callable[[int], bool] = lambda _: False,
        assignment: Mapping[str, tuple[int, ...]] | None = None,
        *,
        asks_controller: bool | None = None,
        controllers: Sequence[int] = (CONTROLLER,),
    ) -> None:
        self._controls = controls
        self._controllers = controllers
        self._furthest: AdminReply = {}
        self._puts_together = CONTROLLER not in controls if asks_controller is None else not asks_controller
        self._excused = excused
        self._assignment = assignment if assignment is not None else {}
        self._last: dict[int, AdminReply] = {}
        self._partitions: dict[str, Any] = {}
        self._asked_s = -FRESH_S

    @property
    def trouble(self) -> str:
        """Why somebody could not be seen, last; empty where that is not known."""
        return ""

    def forget(self) -> None:
        """What is known is about to be wrong: ask again next time."""
        self._asked_s = -FRESH_S

    def partition(self, name: str) -> dict[str, Any]:
        """The controller's state of a partition, at most 20 ms old.

        Raises:
            RunError: the controller does not answer.
        """
        now = time.monotonic()
        if now - self._asked_s > FRESH_S:
            if self._puts_together:
                self._partitions = self._put_together(self._of_those_that_run())
            elif len(self._controllers) > 1:
                self._partitions = self.of_quorum()["partitions"]
            elif not (self._partitions and self._excused(CONTROLLER)):
                try:
                    status = self._controls[CONTROLLER].status(CONTROLLER_PATIENCE_S)
                except NodeError as error:
                    raise RunError(f"the controller does not say who leads: {error}") from None
                self._partitions = status["partitions"]
            self._asked_s = time.monotonic()
        return dict(self._partitions[name])

    def of_quorum(self, statuses: Mapping[int, AdminReply | None] | None = None) -> AdminReply:
        """What the controllers say, as one; while none of them says more, what was said last.

        Args:
            statuses: what they said just now; else they are asked.

        Raises:
            RunError: none has ever said anything, and none does now.
        """
        deadline = time.monotonic() + CONTROLLER_PATIENCE_S
        while True:
            found = self.statuses(self._controllers) if statuses is None else statuses
            said = [status["controller"] for node in self._controllers if (status := found.get(node))]
            furthest = max(said, key=lambda one: int(one["offset"]), default=None)
            if furthest is not None and furthest["offset"] >= self._furthest.get("offset", 0):
                self._furthest = furthest
            if self._furthest:
                return self._furthest
            if time.monotonic() > deadline:
                raise RunError("none of the controllers says who leads")
            statuses = None
            time.sleep(FRESH_S)

    def _put_together(self, statuses: Mapping[int, AdminReply | None]) -> dict[str, Any]:
        return {name: state_among(name, replicas, statuses) for name, replicas in self._assignment.items()}

    def _of_those_that_run(self) -> dict[int, AdminReply | None]:
        """What the brokers say; of one that cannot answer now though its process is there, what it said last."""
        asked = [node for node in self._controls if not self._excused(node)]
        found: dict[int, AdminReply | None] = dict(self.statuses(asked))
        for node in self._controls:
            if self._controls[node].admin.is_open or node not in asked:
                found[node] = found.get(node) or self._last.get(node)
        self._last = {node: status for node, status in found.items() if status is not None}
        return found

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
        """All partitions, as :mod:`tidemark.harness.runs.at_rest` looks at them.

        Raises:
            RunError: the controller does not answer.
        """
        statuses = self.statuses(self._controls)
        if self._puts_together:
            return {name: voted_view(name, state, statuses) for name, state in self._put_together(statuses).items()}
        controller = statuses.pop(CONTROLLER)
        if len(self._controllers) > 1:
            partitions = self.of_quorum({**statuses, CONTROLLER: controller})["partitions"]
            return {name: partition_view(name, state, statuses) for name, state in partitions.items()}
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


def voted_view(name: str, state: Mapping[str, Any], brokers: Mapping[int, AdminReply | None]) -> PartitionView:
    """The same where there is no controller: a follower may have entries behind its leader's log end, until others take their
    place.
    """
    view = partition_view(name, state, brokers)
    leader = view.brokers.get(view.leader)
    if leader is None:
        return view
    found = {
        broker: replica._replace(leo=min(replica.leo, leader.leo))
        if replica is not None and replica.role == "follower" and replica.leader_epoch == view.leader_epoch
        else replica
        for broker, replica in view.brokers.items()
    }
    return view._replace(brokers=found)


def compare_clocks(controls: Mapping[int, NodeControl]) -> dict[int, int]:
    """How far each node's monotonic clock is ahead of ours, µs.

    Containers share one kernel, and their clocks are exactly one clock: then all nodes get the same number, and 0 if it is ours
    too. Between machines the number is known to half the time of a question and its answer.

    Raises:
        RunError: a node does not tell its time.
    """
    clocks: dict[int, int] = {}
    for node, control in controls.items():
        try:
            ahead = clock_ahead_us(control)
        except NodeError as error:
            raise RunError(f"{control.name} does not tell its time: {error}") from None
        clocks[node] = as_one_clock(ahead, clocks.values())
    return clocks


def as_one_clock(ahead_us: int, known: Iterable[int]) -> int:
    """How far a clock is ahead of ours: exactly as far as ours, or one of those known, if they are one kernel's."""
    return next((other for other in (0, *known) if abs(ahead_us - other) < SAME_CLOCK_US), ahead_us)


def clock_ahead_us(control: NodeControl) -> int:
    """How far a node's monotonic clock is ahead of ours, as far as questions can tell.

    Raises:
        NodeError: it does not tell its time.
    """
    best = (1 << 62, 0)
    for _ in range(QUESTIONS):
        before = monotonic_us()
        there = int(control.status()["mono_us"])
        after = monotonic_us()
        best = min(best, (after - before, there - (before + after) // 2))
    return best[1]
