"""The target on a system of any protocol that has a view: whatever needs more than its nodes' processes, links, clients and view
is refused by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from tidemark.harness.scenario.live.observation import carried_out
from tidemark.harness.scenario.live.outside_clients import OutsideClients
from tidemark.harness.scenario.live.outside_nodes import OutsideNodes, OutsideView
from tidemark.harness.scenario.live.target import LiveTarget
from tidemark.harness.scenario.target import PARTITION, CannotPlayError
from tidemark.nodes.core.messages import CONTROLLER

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tidemark.harness.scenario.links import Link
    from tidemark.harness.scenario.live.cluster_view import ClusterView
    from tidemark.harness.scenario.live.nodes import Nodes
    from tidemark.harness.scenario.model import Scenario
    from tidemark.harness.systems.outside.adapter import OutsideSystem
    from tidemark.nodes.families import AnyVariant

LOG = "log"
ON_DISK = " on disk"
"""How a condition ends that asks for checkpoints, which no view tells."""


class OutsideTarget(LiveTarget):
    """See above. Leader epochs are the system's own: a later one than the script's will do.

    Raises:
        CannotPlayError: the system has no view or no clients of a log, or the script asks for what no view tells.
    """

    def __init__(
        self,
        scenario: Scenario,
        variant: AnyVariant,
        nodes: OutsideNodes,
        time_scale: float,
        folder: Path | None = None,
    ) -> None:
        self._outside: OutsideSystem = nodes.system
        super().__init__(scenario, variant, nodes, time_scale, folder)
        self.spends_epochs = True
        name, real = self._outside.name, self._outside.real
        if not real.shows_leaders:
            raise CannotPlayError(
                f"{name} has no view, so nobody sees what a script waits for: who leads, and where logs end"
            )
        if LOG not in real.workloads:
            raise CannotPlayError(f"{name} has no clients of a log")
        for step in scenario.steps:
            for command in step.commands:
                if command.text.endswith(ON_DISK) and (command.variants is None or real.model in command.variants):
                    raise CannotPlayError(f"no view of {name} tells what {command.text!r} waits for")

    def view_of(self, nodes: Nodes) -> ClusterView:
        assert isinstance(nodes, OutsideNodes)  # noqa: S101 - it was made with these
        return OutsideView(self.scenario, nodes)

    def clients_of(self, nodes: Nodes, patience_us: int) -> Any:  # noqa: ANN401 - in the place of our own
        real, now_us = self._outside.real, self._chronicle.now_us
        return OutsideClients(lambda: real.client(LOG), nodes.machines, now_us, self.ops, PARTITION, patience_us)

    def described(self) -> dict[str, Any]:
        return {**self._outside.describe(self.variant), **self._outside.describe_clients(self.variant)}

    def boot(self) -> None:
        """Start what the nodes need beside them, then all of them, then make the log."""
        nodes = self._nodes
        with carried_out():
            nodes.prepare()
            nodes.all_at_once(nodes.start, nodes.brokers())
            nodes.after_start()
        self.wait("somebody leads, and every other node follows", lambda: all(map(self._knows_leader, nodes.brokers())))

    def _knows_leader(self, broker: int) -> bool:
        seen = self.glance(broker)
        return seen.role == "leader" or (seen.role == "follower" and seen.leader > 0)

    def isr(self) -> tuple[int, ...]:
        self._cannot("see the ISR of")

    def fenced(self, broker: int) -> bool:
        self._cannot("see who is fenced in")

    # What it lacks

    def _cannot(self, what: str) -> NoReturn:
        raise CannotPlayError(f"nobody can {what} {self._outside.name}, which is seen from outside")

    def elect(self, how: str, broker: int) -> None:
        self._cannot(f"ask for a {how} election of")

    def reassign(self, replicas: tuple[int, ...]) -> None:
        self._cannot("move the replicas of")

    def set_min_isr(self, min_isr: int) -> None:
        self._cannot("set the min ISR of")

    def allow_unclean(self, *, on: bool) -> None:
        self._cannot("allow the unclean elections of")

    def switch_elr(self, *, on: bool) -> None:
        self._cannot("switch the ELR of")

    def move_log(self, broker: int) -> None:
        self._cannot("move a log to another directory of")

    def throttle_moves(self, broker: int, rate: int) -> None:
        self.move_log(broker)

    def retain(self, broker: int, batches: int) -> None:
        self._cannot("tell to delete its oldest records")

    def ask_to_delete(self, offset: int, broker: int) -> Callable[[], str]:
        self._cannot("delete records of")

    def crash_controller(self) -> None:
        self._cannot("crash the controller of")

    def start_controller(self) -> None:
        self._cannot("start a controller of")

    def end_process(self, broker: int, how: str, keep: int = 0) -> None:
        if how == "power" and keep:
            self._cannot("choose what a power loss leaves of what was not synced by")
        super().end_process(broker, how, keep)

    # Messages

    def block(self, links: tuple[Link, ...]) -> None:
        """Between a node and what runs beside the nodes both directions are cut, or what comes from there: what arrives is cut at
        whoever receives it, and there nobody cuts.
        """
        for link in links:
            if link.to == CONTROLLER and link._replace(source=CONTROLLER, to=link.source) not in links:
                self._cannot("lose only what a node sends to the controller of")
        super().block(links)

    def as_meant(self, links: tuple[Link, ...]) -> tuple[Link, ...]:
        for link in links:
            if link.kind is not None:
                self._cannot(f"tell {link.kind} from other messages of")
        return links
