"""How a system stands that says nothing by itself: what it can be seen to do at each node that runs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from tidemark.harness.live.observation import PATIENCE_S, Observation, voted_view
from tidemark.harness.live.state_among import state_among

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tidemark.harness.machines.admin_channel import AdminReply
    from tidemark.harness.machines.machine import Machine
    from tidemark.harness.machines.node_control import NodeControl
    from tidemark.harness.runs.at_rest import PartitionView
    from tidemark.harness.systems.capabilities import SeenFromOutside


class OutsideObservation(Observation):
    """Asks the keepers whether the programs run, and the system how they stand.

    Args:
        system: how it stands is seen from outside. machines: of its nodes.
        controls: of their programs. excused: whether a fault keeps a node from answering.
        assignment: log → the nodes that have it.
    """

    def __init__(
        self,
        system: SeenFromOutside,
        machines: Mapping[int, Machine],
        controls: Mapping[int, NodeControl],
        excused: Callable[[int], bool],
        assignment: Mapping[str, tuple[int, ...]],
    ) -> None:
        super().__init__(controls, excused, assignment, asks_controller=False)
        self._system, self._machines, self._logs = system, machines, assignment
        self.sees_leaders = system.shows_leaders

    @property
    def trouble(self) -> str:
        """Why somebody could not be seen, last."""
        return self._system.trouble

    def statuses(self, nodes: Iterable[int], patience_s: float = PATIENCE_S) -> dict[int, AdminReply | None]:
        """As they say, all asked at once; without a log whose node did not say how it stands."""
        found = super().statuses(nodes, patience_s)
        if self.sees_leaders:
            running = [node for node, status in found.items() if status is not None and not self._excused(node)]
            with ThreadPoolExecutor(max(len(running), 1)) as threads:
                for node, logs in zip(running, threads.map(self._logs_of, running), strict=True):
                    found[node] = {**(found[node] or {}), "partitions": logs}
        return found

    def views(self) -> dict[str, PartitionView]:
        """Of all logs; none where nobody can see."""
        if not self.sees_leaders:
            return {}
        statuses = self.statuses(self._controls)
        return {
            name: voted_view(name, state_among(name, replicas, statuses), statuses)
            for name, replicas in self._logs.items()
        }

    def glance(self, node: int) -> dict[str, dict[str, Any]]:
        """How one node stands with each log, unless a fault keeps it from answering; may be called from any thread."""
        return {} if self._excused(node) else self._logs_of(node)

    def _logs_of(self, node: int) -> dict[str, dict[str, Any]]:
        asked = {name: replicas for name, replicas in self._logs.items() if node in replicas}
        found = {
            name: self._system.stands(node, self._machines[node], name, replicas) for name, replicas in asked.items()
        }
        return {name: status for name, status in found.items() if status is not None}
