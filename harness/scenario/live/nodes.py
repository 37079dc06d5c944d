"""The node processes of one scenario: started, stopped, and cut off from each other, one verb at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tidemark.harness.live.cluster_nodes import ClusterNodes
from tidemark.harness.live.link_faults import TRANSPORT, AnyLinkFault, LinkFault, MessageRules
from tidemark.harness.live.observation import as_one_clock, clock_ahead_us
from tidemark.harness.live.own_end import CLEAN, manner
from tidemark.harness.live.run_loop import monotonic_us
from tidemark.harness.machines.admin_channel import AdminReply
from tidemark.harness.machines.errors import NodeError
from tidemark.harness.scenario.live.observation import ScriptObservation
from tidemark.harness.systems.capabilities import Rules
from tidemark.harness.systems.deployment import Deployment
from tidemark.harness.systems.system import System


class Nodes(ClusterNodes):
    """Controller, if there is one, and brokers. Every verb ends when its effect was seen; raises ``NodeError`` if it was not.

    Attributes:
        ids: of the nodes that run a process. down: those whose process does not run. paused: whose process stands still.
        clocks_us: node → how far its monotonic clock is ahead of ours, 0 on this machine; known after its first start.
        died: processes that ended though nobody asked them to, as far as that was seen, as the history's meta line has them
            (docs/history.md), but for ``time``, which is CLOCK_MONOTONIC's.
        silent: (time, node) of those that gave no account of their end.
        observation: how they stand, for a script.
    """

    observation: ScriptObservation

    def __init__(self, deployment: Deployment, system: System) -> None:
        super().__init__(deployment, system, delay=TRANSPORT)
        self.ids = tuple(sorted(self.nodes))
        self.down = set(self.ids)
        self.paused: set[int] = set()
        self.clocks_us: dict[int, int] = {}
        self.died: list[dict[str, Any]] = []
        self.silent: list[tuple[int, int]] = []
        self._leaving: set[int] = set()
        self._incarnations = dict.fromkeys(self.ids, 0)
        self._cuts: dict[str, int] = {}
        self._cuts_made = 0

    def observe(self, wanted: Mapping[str, tuple[int, ...]]) -> ScriptObservation:
        """Asks one node after the other."""
        return ScriptObservation(
            self.controls,
            self.status,
            self.excused,
            wanted,
            asks_controller=self.has_controller,
            controllers=self.system.controllers,
        )

    def excused(self, node: int) -> bool:
        """Whether its process stands still."""
        return node in self.paused

    def clean(self) -> None:
        """Make the machines as they were before their first run: no process, no files, no firewall rules."""
        self.all_at_once(lambda node: self.nodes[node].clean(), self.ids)

    def close(self) -> None:
        """End all processes, and take everything off the machines that acts on others."""
        if self.operator is not None:
            self.operator.close()
        self.all_at_once(self._close, self.ids)

    def _close(self, node: int) -> None:
        self.nodes[node].end()
        self.down.add(node)

    # Processes

    def start(self, node: int) -> None:
        """Start a process; ends when it answers, and has the rules that are in force for it, or when it has stopped itself."""
        control = self.controls[node]
        if self._incarnations[node]:
            self.before_start(node)
        self._incarnations[node] += 1
        self._leaving.discard(node)
        try:
            self.nodes[node].start(self.config(node, self._incarnations[node]), clock_faults=False)
            self.down.discard(node)
            if node not in self.clocks_us:
                self.clocks_us[node] = as_one_clock(clock_ahead_us(control), list(self.clocks_us.values()))
        except NodeError:
            # A broker that finds its leader's log shorter than its own may stop itself before it was ever asked anything.
            if control.running() or not control.own_end():
                raise
            self._ended_itself(node)

    def start_if_gone(self, node: int) -> None:
        """The same, unless there is a process."""
        if self.gone(node):
            self.start(node)

    def kill(self, node: int) -> None:
        """SIGKILL."""
        self.nodes[node].kill()
        self.down.add(node)
        self.paused.discard(node)

    def terminate(self, node: int) -> None:
        """SIGTERM; the process may take its time."""
        self._leaving.add(node)
        self.nodes[node].terminate()

    def pause(self, node: int) -> None:
        """SIGSTOP."""
        self.nodes[node].pause()
        self.paused.add(node)

    def resume(self, node: int) -> None:
        """SIGCONT; ends when the process has the rules that were set meanwhile."""
        self.nodes[node].resume()
        self.paused.discard(node)

    def gone(self, node: int) -> bool:
        """Whether there is no process, because it was ended or has ended itself."""
        if node not in self.down and self.controls[node].state() == "gone":
            self._ended_itself(node)
        return node in self.down

    def _ended_itself(self, node: int) -> None:
        self.down.add(node)
        account, words = self.nodes[node].last_words()
        if account == CLEAN and node in self._leaving:
            return
        seen_us, how = monotonic_us(), manner(account, words, self.system.is_halt)
        told = {"node": node, "incarnation": self._incarnations[node], "time": seen_us, "how": how, "log": words}
        self.died.append(told)
        if not account:
            self.silent.append((seen_us, node))

    def status(self, node: int) -> AdminReply | None:
        """How a node stands; `None` if its process is gone."""
        if node in self.down:
            return None
        try:
            return self.controls[node].status()
        except NodeError:
            if self.gone(node):
                return None
            raise

    # Faults

    def put_rules(self, key: str, rules: dict[int, Rules]) -> None:
        """Put rules on what nodes send, also of those that start later."""
        fault = MessageRules(rules)
        self.links.add(key, fault)
        self._tell(fault)

    def drop_rules(self, key: str) -> bool:
        """Take them off again; says whether there were any."""
        fault = self.links.remove(key)
        if fault is not None:
            self._tell(fault)
        return fault is not None

    def _tell(self, fault: AnyLinkFault) -> None:
        for node in sorted(self.links.told_of(fault) & self.nodes.keys()):
            self.nodes[node].apply_rules()

    def cut(self, key: str, source: int, to: int) -> None:
        """Let nothing pass from one node to another, at the receiver's firewall; from or to a node that is none, nothing does.
        A cut that is made twice is one.
        """
        if key in self._cuts:
            return
        self._cuts_made += 1
        self._cuts[key] = self._cuts_made
        if {source, to} <= self.nodes.keys():
            self.links.add(self._cuts_made, LinkFault(((source, to),), "cut"))
            self.nodes[to].apply_links()

    def join(self, key: str) -> bool:
        """Let it pass again; says whether there was such a cut."""
        number = self._cuts.pop(key, None)
        fault = self.links.remove(number) if number is not None else None
        if fault is not None:
            for node in fault.nodes():
                self.nodes[node].apply_links()
        return number is not None

    def heal(self) -> None:
        """No rules, no cuts, nobody paused."""
        self._cuts.clear()
        self.links.clear()
        for node in self.ids:
            self.gone(node)
            self.nodes[node].apply_links()
            self.nodes[node].apply_rules()
        for node in sorted(self.paused):
            self.resume(node)
