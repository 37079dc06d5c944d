"""Link faults as a cluster of machines knows them: which are in force, and what that asks of each node.

=================  ===================================================================  ==================
effect             carried out by                                                       on
=================  ===================================================================  ==================
cut                iptables, DROP                                                       the receiving node
lossy              iptables, ``statistic --mode random``                                the receiving node
slow               ``tc netem``; without it the node's transport                        the sending node
late-…, lost-…     the transport, a rule for each kind of message                       the sending node
=================  ===================================================================  ==================

Links to and from clients (−1) act on the port of the listener that clients use.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tidemark.harness.machines import firewall, netem
from tidemark.harness.machines.machine import HOST_PORT
from tidemark.harness.machines.node_control import NodeControl
from tidemark.nemesis.kinds import late_or_lost
from tidemark.nemesis.links import CONTROLLER, EVERYONE, Link

Spread = Callable[[Mapping[int, list[dict[str, Any]]], Iterable[int]], Mapping[int, list[dict[str, Any]]]]
"""See ``tidemark.harness.systems.capabilities.SpreadsRules``."""

NETEM, TRANSPORT = "netem", "transport"
_EFFECTS = {"late": "delay", "lost": "drop"}


@dataclass(frozen=True, slots=True)
class LinkFault:
    """A fault on links; amounts are µs or per mille, as its effect has them."""

    links: tuple[Link, ...]
    effect: str
    amount: int = 0

    def nodes(self) -> set[int]:
        """The nodes that may have something to do for it."""
        return {node for link in self.links for node in link} - {EVERYONE}


@dataclass(frozen=True, slots=True)
class MessageRules:
    """What the transports of some nodes are to do, in a script's own terms: rules by sender."""

    by_sender: Mapping[int, list[dict[str, Any]]]

    def nodes(self) -> set[int]:
        """The nodes whose transport has something to do."""
        return set(self.by_sender)


AnyLinkFault = LinkFault | MessageRules


def transport_rules(fault: LinkFault, node: int, delay: str = TRANSPORT) -> list[dict[str, Any]]:
    """What the transport of this node, as a sender, must do for a fault; empty if nothing."""
    found = late_or_lost(fault.effect)
    kind: str | None
    if found is not None:
        how, (to_controller, from_controller) = found
        # Word of who leads comes from a controller; where there is none, from whoever stands for election, or leads.
        kind = from_controller if node == CONTROLLER or not to_controller else to_controller
        effect = _EFFECTS[how]
    elif fault.effect == "slow" and delay == TRANSPORT:
        kind, effect = None, "delay"
    else:
        return []
    receivers = [to for source, to in fault.links if source == node and to != EVERYONE]
    return [{"kind": kind, "to": to, "effect": effect, "amount": fault.amount} for to in receivers]


def drop_rules(fault: LinkFault, node: int, addresses: Mapping[int, str]) -> list[str]:
    """What this node must drop for a ``cut`` or ``lossy`` fault, as iptables has it; empty if nothing."""
    if fault.effect not in {"cut", "lossy"}:
        return []
    chance = ""
    if fault.effect == "lossy":
        chance = f" -m statistic --mode random --probability {fault.amount / 1000:.4f}"
    rules = []
    for source, to in fault.links:
        if to == node:
            match = f"-p tcp -m tcp --dport {HOST_PORT}" if source == EVERYONE else f"-s {addresses[source]}/32"
            rules.append(f"{match}{chance} -j DROP")
        elif source == node and to == EVERYONE:
            rules.append(f"-p tcp -m tcp --sport {HOST_PORT}{chance} -j DROP")
    return list(dict.fromkeys(rules))


class LinkFaults:
    """The link faults in force, by key.

    Args:
        addresses: node → the address other nodes reach it by.
        delay: ``netem`` or ``transport``: what slows links.
        spread: where the rules for each sender's messages are put in force; at the sender, unless a system says otherwise.
    """

    def __init__(self, addresses: Mapping[int, str], delay: str, spread: Spread | None = None) -> None:
        self.addresses = addresses
        self.delay = delay
        self._spread = spread
        self._faults: dict[int | str, AnyLinkFault] = {}

    def add(self, key: int | str, fault: AnyLinkFault) -> None:
        """From now on the nodes should do this; what a firewall does has a number for a key."""
        self._faults[key] = fault

    def remove(self, key: int | str) -> AnyLinkFault | None:
        """And from now on no more; the fault that was in force."""
        return self._faults.pop(key, None)

    def clear(self) -> None:
        """From now on nothing is in force."""
        self._faults.clear()

    def firewall_of(self, node: int) -> dict[int, list[str]]:
        """Key → what the node must drop."""
        wanted = {
            int(key): drop_rules(fault, node, self.addresses)
            for key, fault in self._items()
            if isinstance(fault, LinkFault)
        }
        return {key: rules for key, rules in wanted.items() if rules}

    def transport_of(self, node: int) -> dict[str, list[dict[str, Any]]]:
        """Key → what its transport must do."""
        wanted = {str(key): self._rules_of(fault, node) for key, fault in self._items()}
        return {key: rules for key, rules in wanted.items() if rules}

    def _rules_of(self, fault: AnyLinkFault, node: int) -> list[dict[str, Any]]:
        if self._spread is None:
            return self._sent_by(node, fault)
        by_sender = {sender: self._sent_by(sender, fault) for sender in self.addresses}
        return self._spread(by_sender, self.addresses).get(node, [])

    def _sent_by(self, node: int, fault: AnyLinkFault) -> list[dict[str, Any]]:
        if isinstance(fault, MessageRules):
            return fault.by_sender.get(node, [])
        return transport_rules(fault, node, self.delay)

    def told_of(self, fault: AnyLinkFault) -> set[int]:
        """The nodes whose transport may have something to do for a fault."""
        return fault.nodes() if self._spread is None else set(self.addresses)

    def delays_of(self, node: int) -> dict[str, int]:
        """Receiver's address → µs, all faults together; empty unless netem slows links."""
        delays: dict[str, int] = defaultdict(int)
        slow = [fault for _, fault in self._items() if isinstance(fault, LinkFault) and fault.effect == "slow"]
        for fault in slow if self.delay == NETEM else ():
            for source, to in fault.links:
                if source == node and to != EVERYONE:
                    delays[self.addresses[to]] += fault.amount
        return dict(delays)

    def _items(self) -> list[tuple[int | str, AnyLinkFault]]:
        return list(self._faults.items())


class NodeLinks:
    """Brings one node to what :class:`LinkFaults` says. Its methods may be called from several threads.

    Attributes:
        answering: whether the process takes rules for its transport: it runs, and is not paused.
    """

    def __init__(self, control: NodeControl, node: int, faults: LinkFaults) -> None:
        self._control = control
        self._node = node
        self.faults = faults
        self._machine = threading.Lock()
        self._process = threading.Lock()
        self._chains: dict[int, list[str]] = {}
        self._delays: dict[str, int] = {}
        self._rules: dict[str, list[dict[str, Any]]] = {}
        self.answering = False

    def apply_to_machine(self) -> None:
        """Firewall and kernel delays, verified.

        Raises:
            NodeError: something could not be put in force, or taken off.
        """
        with self._machine:
            wanted = self.faults.firewall_of(self._node)
            for key in [key for key in self._chains if key not in wanted]:
                firewall.remove(self._control, key)
                del self._chains[key]
            for key, rules in wanted.items():
                if self._chains.get(key) != rules:
                    firewall.install(self._control, key, rules)
                    self._chains[key] = rules
            delays = self.faults.delays_of(self._node)
            if delays != self._delays:
                netem.set_delays(self._control, self.faults.addresses[self._node], delays)
                self._delays = delays

    def apply_to_process(self) -> None:
        """Rules of the transport, verified; a process that is down or paused gets them when it is back.

        Raises:
            NodeError: a rule could not be put in force, or taken off.
        """
        with self._process:
            if self.answering:
                self._apply_to_process()

    def process_began(self, *, anew: bool) -> None:
        """The process answers (again); ``anew``: it is a new one, and has no rules.

        Raises:
            NodeError: as :meth:`apply_to_process`.
        """
        with self._process:
            if anew:
                self._rules = {}
            self.answering = True
            self._apply_to_process()

    def process_ends(self) -> None:
        """From now on the process will not answer: it is about to be paused, killed or cut off."""
        with self._process:
            self.answering = False

    def machine_restarted(self) -> None:
        """The machine's rules are gone with its kernel state; put those back that should be in force.

        Raises:
            NodeError: as :meth:`apply_to_machine`.
        """
        with self._machine:
            self._chains = {}
            self._delays = {}
        self.apply_to_machine()

    def reconnected(self) -> None:
        """The network interface is a new one: firewall rules have stayed, delays have not.

        Raises:
            NodeError: as :meth:`apply_to_machine`.
        """
        with self._machine:
            self._delays = {}
        self.apply_to_machine()

    def _apply_to_process(self) -> None:
        wanted = self.faults.transport_of(self._node)
        admin = self._control.admin
        for key in [key for key in self._rules if key not in wanted]:
            admin.ask("transport-clear", key=key)
            del self._rules[key]
        for key, rules in wanted.items():
            if self._rules.get(key) != rules:
                admin.ask("transport", key=key, rules=rules)
                self._rules[key] = rules
