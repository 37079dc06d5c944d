"""Faults in this node's transport: what it sends is lost, held back, or late, as the rules in force have it."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from nodes.admin.message_rules import Key, MessageRules
from nodes.core.messages import KINDS

Deed = Callable[[], None]
_KIND_OF = {type_: (kind,) for kind, type_ in KINDS.items()}


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
        tells_leadership: knows the messages that are of the kind ``leadership``, where they are not a controller's.

    Attributes:
        rules: those in force. When one ends, what it held is sent, in order, unless another concerns it.
    """

    def __init__(
        self,
        node: int,
        call_later: Callable[[float, Deed], object],
        noise: Random,
        tells_leadership: Callable[[object], bool] | None = None,
    ) -> None:
        """No rules are in force."""
        self._tells_leadership = tells_leadership
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

    def _kinds_of(self, message: object) -> tuple[str, ...]:
        if self._tells_leadership is not None and self._tells_leadership(message):
            return ("leadership",)
        return _KIND_OF.get(type(message), ())

    def _cleared(self, key: Key) -> None:
        for held in self._held.pop(key, ()):
            self.pass_on(*held)
