"""Faults in this node's transport: what it sends is lost, held back, or late, as the rules in force have it."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from tidemark.nodes.admin.message_rules import Key, MessageRules
from tidemark.nodes.families.kafka import KAFKA

Deed = Callable[[], None]


class _Held(NamedTuple):
    to: int
    message: object
    send: Deed
    lose: Deed


class TransportFaults:
    """Sends this node's messages as far as rules let it.

    Args:
        node: whose they are.
        call_later: calls something after a number of seconds.
        noise: draws what is lost, and how late the rest is.
        kinds_of: the kinds of message that one is.

    Attributes:
        rules: those in force. When one ends, what it held is sent, in order, unless another concerns it.
    """

    def __init__(
        self,
        node: int,
        call_later: Callable[[float, Deed], object],
        noise: Random,
        kinds_of: Callable[[object], tuple[str, ...]] = KAFKA.kinds_of,
    ) -> None:
        """No rules are in force."""
        self._kinds_of = kinds_of
        self._node = node
        self._call_later = call_later
        self._held: dict[Key, list[_Held]] = {}
        self.rules = MessageRules(noise)
        self.rules.on_clear(self._cleared)

    def pass_on(self, to: int, message: object, send: Deed, lose: Deed) -> None:
        """Send a message, now, later or when a rule ends, or lose it.

        Args:
            to: the receiving node, or connection of a client.
            message: the core's message that it carries; anything else for what the core does not know.
            send: puts it on the wire.
            lose: does what must be done if it never gets there.
        """
        effect, key, late_us = self.rules.judge(self._kinds_of(message), self._node, to)
        if effect == "hold":
            self._held.setdefault(key, []).append(_Held(to, message, send, lose))
        elif effect != "delay":
            lose()
        elif late_us:
            self._call_later(late_us / 1e6, send)
        else:
            send()

    def _cleared(self, key: Key) -> None:
        for held in self._held.pop(key, ()):
            self.pass_on(*held)
