"""Which links and machines of a live cluster are disturbed: what the nemesis asks for, brought to each node in its lanes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.harness.live.contained_node import CLOCK_JUMP, DISCONNECT, DISK_FULL
from tidemark.harness.live.link_faults import LinkFault
from tidemark.nemesis.links import CONTROLLER, EVERYONE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tidemark.harness.live.contained_node import ContainedNode
    from tidemark.harness.live.link_faults import LinkFaults
    from tidemark.harness.live.processes import Processes
    from tidemark.harness.live.run_loop import RunLoop
    from tidemark.nemesis.links import Link

    Submit = Callable[[int, str, str, Callable[[], None]], None]

MACHINE, ADMIN, CLOCK = "machine", "admin", "clock"
"""Lanes of a node, beside its process's: its links and machine; what is asked of the process, which takes a few ms only; waiting
for its clock."""


class Disturbances:
    """Those in force.

    Args:
        nodes: by id, the controller as 0 where there is one.
        links: the faults of links, of the whole cluster.
        submit: has something done in a lane of a node: which, which lane, what it is, the deed.
        processes: of the nodes. run_loop: their time.
        machines: the ids of all machines, also of those that run nothing.
    """

    def __init__(
        self,
        nodes: Mapping[int, ContainedNode],
        links: LinkFaults,
        submit: Submit,
        processes: Processes,
        run_loop: RunLoop,
        machines: tuple[int, ...],
    ) -> None:
        """None are."""
        self._nodes = nodes
        self._links = links
        self._submit = submit
        self._processes = processes
        self._run_loop = run_loop
        self._machines = machines
        self._hindered: dict[int, tuple[int, str]] = {}

    def set_link_fault(self, key: int, links: tuple[Link, ...], effect: str, amount: int) -> None:
        """Put a fault on links. Where there is no controller, the others stand for it if what is meant is word of who leads."""
        if CONTROLLER not in self._nodes and effect.endswith("-leadership"):
            links = tuple((other, to) for _, to in links for other in self._nodes if other != to)
        fault = LinkFault(links, effect, amount)
        self._links.add(key, fault)
        self._apply_links(fault)

    def clear_link_fault(self, key: int) -> None:
        """Take it off."""
        fault = self._links.remove(key)
        if fault is not None:
            self._apply_links(fault)

    def _apply_links(self, fault: LinkFault) -> None:
        what = f"put or clear '{fault.effect}' on"
        for node in sorted(self._links.told_of(fault) & self._nodes.keys()):
            self._submit(node, ADMIN, what, self._nodes[node].apply_rules)
        for node in sorted(fault.nodes() & self._nodes.keys()):
            self._submit(node, MACHINE, what, self._nodes[node].apply_links)

    def hinder(self, key: int, broker: int, kind: str, amount: int) -> None:
        """Put a fault on a broker's machine."""
        self._hindered[key] = (broker, kind)
        if kind == DISCONNECT:
            others = [node for node in (EVERYONE, *self._machines) if node != broker]
            links = (*((broker, other) for other in others), *((other, broker) for other in others))
            self.set_link_fault(key, links, "cut", 0)
            self._submit(
                broker, MACHINE, "disconnect", lambda: self._nodes[broker].unplug(wanted=lambda: key in self._hindered)
            )
        else:
            self._nodes[broker].hindrances[key] = (kind, amount)
            if kind == DISK_FULL:
                self._processes.disk_filled(broker)
            self._apply_hindrance(broker, kind)

    def unhinder(self, key: int) -> None:
        """Take it off."""
        broker, kind = self._hindered.pop(key, (0, ""))
        if kind == DISCONNECT:
            self.clear_link_fault(key)
            if (broker, kind) not in self._hindered.values():
                self._submit(broker, MACHINE, "connect", self._nodes[broker].plug_in)
        elif kind:
            self._nodes[broker].hindrances.pop(key, None)
            self._apply_hindrance(broker, kind)

    def _apply_hindrance(self, broker: int, kind: str) -> None:
        node = self._nodes[broker]

        def apply() -> None:
            node.apply_hindrances()
            if kind == CLOCK_JUMP:
                self._submit(broker, CLOCK, "see the clock jump on", node.check_clock)
            elif kind == DISK_FULL:
                self._run_loop.post(lambda: self._processes.start_if_there_is_room(broker))

        self._submit(broker, MACHINE, f"put or clear '{kind}' on", apply)
