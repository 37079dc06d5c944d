"""The node processes of one scenario: configured, started, stopped, and cut off from each other, one verb at a time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidemark.harness.live.link_faults import LinkFault, drop_rules
from tidemark.harness.live.own_end import CLEAN, manner
from tidemark.harness.live.run_loop import monotonic_us
from tidemark.harness.machines import firewall
from tidemark.harness.machines.errors import NodeError
from tidemark.harness.machines.node_control import NodeControl
from tidemark.harness.systems.capabilities import SpreadsRules
from tidemark.harness.systems.tidemark import TidemarkSystem

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tidemark.harness.machines.admin_channel import AdminReply
    from tidemark.harness.machines.machine import Machine
    from tidemark.harness.machines.node_places import Places
    from tidemark.harness.systems.system import Deployment, System

CLOCK_LOOKS = 5
"""So often is a node's clock compared with ours."""

Configure = Callable[[int, int], dict[str, Any]]

Rule = dict[str, Any]
"""What a node's transport does to what it sends; see docs of the admin port."""


@dataclass(frozen=True, slots=True)
class Death:
    """A process that ended though nobody asked it to.

    Attributes:
        seen_us: when that was seen, by our clock.
        account: how it ended by its own account; empty if it gave none.
        how: as the history's meta line has it, ``broken-off`` unless its protocol wanted it.
        words: the last lines it printed.
    """

    node: int
    incarnation: int
    seen_us: int
    account: str
    how: str
    words: str


class Nodes:
    """Controller, if there is one, and brokers on their machines.

    Args:
        machines: node → machine.
        configure: the configuration of a node's process, given node and incarnation.
        places: node → where its files are, if not where they usually are.
        system: what runs on the machines; Tidemark's own nodes, unless told otherwise.
        deployment: what the system must know of the run.

    Attributes:
        controls: node → its control.
        down: nodes whose process does not run.
        paused: nodes whose process stands still.
        clock_ahead_us: node → how far its monotonic clock is ahead of ours, 0 on this machine; known after its first start.
        deaths: processes that ended though nobody asked them to, as far as that was seen.
    """

    def __init__(
        self,
        machines: Mapping[int, Machine],
        configure: Configure,
        places: Mapping[int, Places] | None = None,
        system: System | None = None,
        deployment: Deployment | None = None,
    ) -> None:
        self.ids = tuple(sorted(machines))
        self.machines = dict(machines)
        self.system = system or TidemarkSystem()
        self.deployment = deployment
        self.controls = {node: self.system.control(machine) for node, machine in machines.items()}
        for node, where in (places or {}).items():
            self.controls[node] = NodeControl(machines[node], where)
        self.down = set(self.ids)
        self.paused: set[int] = set()
        self._configure = configure
        self._addresses = {node: machine.inner_ip for node, machine in machines.items()}
        self.clock_ahead_us: dict[int, int] = {}
        self.deaths: list[Death] = []
        self._leaving: set[int] = set()
        self._incarnations = dict.fromkeys(self.ids, 0)
        self._rules: dict[str, dict[int, list[Rule]]] = {}
        self._cuts: dict[str, tuple[int, LinkFault]] = {}
        self._cuts_made = 0

    def all_at_once(self, deed: Callable[[int], object], nodes: Iterable[int]) -> None:
        """Do something on several nodes at the same time.

        Raises:
            NodeError: the first that failed.
        """
        with ThreadPoolExecutor(len(self.ids)) as threads:
            list(threads.map(deed, nodes))

    def clean(self) -> None:
        """Make the machines as they were before their first run: no process, no files, no firewall rules.

        Raises:
            NodeError: something is left.
        """

        def clean(node: int) -> None:
            self.controls[node].clean()
            firewall.remove_all(self.controls[node])

        self.all_at_once(clean, self.ids)

    def close(self) -> None:
        """End all processes, and take everything off the machines that acts on others.

        Raises:
            NodeError: something is left.
        """
        self.all_at_once(self._close, self.ids)

    def _close(self, node: int) -> None:
        control = self.controls[node]
        control.kill()
        self.down.add(node)
        firewall.remove_all(control)

    # Processes

    def start(self, node: int) -> None:
        """Start a process; ends when it answers, and has the rules that are in force for it, or when it has stopped itself.

        Raises:
            NodeError: it does not start.
        """
        control = self.controls[node]
        if self._incarnations[node] and self.deployment is not None:
            self.system.before_start(node, self.controls, self.deployment)
        self._incarnations[node] += 1
        self._leaving.discard(node)
        try:
            control.start(self._configure(node, self._incarnations[node]))
            self.down.discard(node)
            if node not in self.clock_ahead_us:
                self.clock_ahead_us[node] = self._clock_ahead_us(node)
            for key, rules in self._rules.items():
                if node in rules:
                    control.admin.ask("transport", key=key, rules=rules[node])
        except NodeError:
            # A broker that finds its leader's log shorter than its own may stop itself before it was ever asked anything.
            if control.running() or not control.own_end():
                raise
            self._ended_itself(node)

    def _clock_ahead_us(self, node: int) -> int:
        best = (1 << 62, 0)
        for _ in range(CLOCK_LOOKS):
            before = monotonic_us()
            there = int(self.controls[node].status()["mono_us"])
            after = monotonic_us()
            best = min(best, (after - before, there - (before + after) // 2))
        took, ahead = best
        return ahead if abs(ahead) > took else 0

    def kill(self, node: int) -> None:
        """SIGKILL.

        Raises:
            NodeError: it is still there.
        """
        self.controls[node].kill()
        self.down.add(node)
        self.paused.discard(node)

    def terminate(self, node: int) -> None:
        """SIGTERM; the process may take its time.

        Raises:
            NodeError: it could not be sent.
        """
        self._leaving.add(node)
        self.controls[node].terminate()

    def pause(self, node: int) -> None:
        """SIGSTOP.

        Raises:
            NodeError: it goes on.
        """
        self.controls[node].pause()
        self.paused.add(node)

    def resume(self, node: int) -> None:
        """SIGCONT.

        Raises:
            NodeError: it does not go on.
        """
        self.controls[node].resume()
        self.paused.discard(node)

    def gone(self, node: int) -> bool:
        """Whether there is no process, because it was ended or has ended itself.

        Raises:
            NodeError: the machine does not answer.
        """
        if node not in self.down and self.controls[node].state() == "gone":
            self._ended_itself(node)
        return node in self.down

    def _ended_itself(self, node: int) -> None:
        control = self.controls[node]
        self.down.add(node)
        control.admin.close()
        account = control.own_end()
        if account == CLEAN and node in self._leaving:
            return
        words = control.log_tail()
        how = manner(account, words, self.system.is_halt)
        self.deaths.append(Death(node, self._incarnations[node], monotonic_us(), account, how, words))

    def status(self, node: int) -> AdminReply | None:
        """How a node stands; `None` if its process is gone.

        Raises:
            NodeError: it does not answer although it runs.
        """
        if node in self.down:
            return None
        try:
            return self.controls[node].status()
        except NodeError:
            if self.gone(node):
                return None
            raise

    # Faults

    def put_rules(self, key: str, rules: dict[int, list[Rule]]) -> None:
        """Put rules on the transports of nodes, also of those that start later.

        Raises:
            NodeError: they could not be put in force.
        """
        self._rules[key] = rules = (
            self.system.spread(rules, self.ids) if isinstance(self.system, SpreadsRules) else rules
        )
        for node in self._answering(rules):
            self.controls[node].admin.ask("transport", key=key, rules=rules[node])

    def drop_rules(self, key: str) -> bool:
        """Take them off again; says whether there were any.

        Raises:
            NodeError: they are still in force.
        """
        rules = self._rules.pop(key, None)
        if rules is None:
            return False
        for node in self._answering(rules):
            self.controls[node].admin.ask("transport-clear", key=key)
        return True

    def _answering(self, nodes: Iterable[int]) -> list[int]:
        asleep = {node for node in self.paused if not self.controls[node].answers_while_paused}
        return [node for node in nodes if node not in self.down and node not in asleep]

    def cut(self, key: str, source: int, to: int) -> None:
        """Let nothing pass from one node to another, at the receiver's firewall; from or to a node that is none, nothing does.
        A cut that is made twice is one.

        Raises:
            NodeError: it is not in force.
        """
        if key in self._cuts:
            return
        self._cuts_made += 1
        fault = LinkFault(((source, to),), "cut")
        self._cuts[key] = (self._cuts_made, fault)
        if {source, to} <= self.controls.keys():
            firewall.install(self.controls[to], self._cuts_made, drop_rules(fault, to, self._addresses))

    def join(self, key: str) -> bool:
        """Let it pass again; says whether there was such a cut.

        Raises:
            NodeError: the cut is still in force.
        """
        found = self._cuts.pop(key, None)
        if found is None:
            return False
        number, fault = found
        ((source, to),) = fault.links
        if {source, to} <= self.controls.keys():
            firewall.remove(self.controls[to], number)
        return True

    def heal(self) -> None:
        """No rules, no cuts, nobody paused.

        Raises:
            NodeError: a fault is still in force.
        """
        for node in self.ids:
            self.gone(node)
        for key in list(self._rules):
            self.drop_rules(key)
        for key in list(self._cuts):
            self.join(key)
        for node in sorted(self.paused):
            self.resume(node)
