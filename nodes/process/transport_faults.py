"""Faults in this node's transport: what it sends is lost, held back, or late, by kind of message and by receiver.

They stand in for ``tc netem``, which not every kernel has, and can do what it cannot: tell messages apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from nodes.core.messages import KINDS

EFFECTS = ("drop", "hold", "delay", "lose")
FIRST_CLIENT = 1_000

Deed = Callable[[], None]


class RuleError(ValueError):
    """A rule that cannot be; the message says what can."""


class Rule(NamedTuple):
    """What happens to outgoing messages of a kind (None: all but those to clients) to a peer (None: any).

    ``amount`` is µs for ``delay`` (up to so much, drawn for each message, so they may overtake each other) and per mille for
    ``lose``.
    """

    kind: str | None
    peer: int | None
    effect: str
    amount: int = 0

    @staticmethod
    def from_json(data: object) -> Rule:
        """Check plain values.

        Raises:
            RuleError: an entry is missing, unknown or impossible.
        """
        if not isinstance(data, dict) or not {"effect"} <= set(data) <= {"kind", "peer", "effect", "amount"}:
            raise RuleError("a rule has an effect, and may have a kind, a peer and an amount")
        kind, peer, effect, amount = data.get("kind"), data.get("peer"), data["effect"], data.get("amount", 0)
        if kind is not None and kind not in KINDS:
            raise RuleError(f"kind must be null or one of {', '.join(KINDS)}, not {kind!r}")
        if peer is not None and (type(peer) is not int or peer < 0):
            raise RuleError(f"peer must be null or a node's number, not {peer!r}")
        if effect not in EFFECTS:
            raise RuleError(f"effect must be one of {', '.join(EFFECTS)}, not {effect!r}")
        if type(amount) is not int or amount < 0 or (effect == "lose" and amount > 1_000):
            raise RuleError(f"amount must be a whole number that is not negative (lose: per mille), not {amount!r}")
        return Rule(kind, peer, effect, amount)

    def carries(self, to: int, message: object) -> bool:
        """Whether this message falls under the rule."""
        if self.kind is None:
            if to >= FIRST_CLIENT:
                return False
        elif type(message) is not KINDS[self.kind]:
            return False
        return self.peer is None or self.peer == to


class _Held(NamedTuple):
    to: int
    message: object
    send: Deed
    lose: Deed


@dataclass(slots=True)
class _Fault:
    rules: list[Rule]
    held: list[_Held] = field(default_factory=list)


class TransportFaults:
    """The faults in force, by key.

    Args:
        call_later: calls something after a number of seconds.
        noise: draws what is lost, and how late the rest is.
    """

    def __init__(self, call_later: Callable[[float, Deed], object], noise: Random) -> None:
        """None are in force."""
        self._call_later = call_later
        self._noise = noise
        self._faults: dict[str | int, _Fault] = {}

    @property
    def keys(self) -> list[str | int]:
        """The keys in force."""
        return list(self._faults)

    def loses(self, kind: str) -> bool:
        """Whether a rule about this kind, and no other, loses messages."""
        rules = [rule for fault in self._faults.values() for rule in fault.rules]
        return any(rule.kind == kind and rule.effect in ("drop", "lose") for rule in rules)

    def put(self, key: str | int, rules: list[Rule]) -> None:
        """Put a fault in force; one that had the key ends."""
        self.clear(key)
        self._faults[key] = _Fault(rules)

    def clear(self, key: str | int) -> bool:
        """End a fault: what it held is sent now, in order, unless another fault concerns it. Says whether there was one."""
        fault = self._faults.pop(key, None)
        if fault is None:
            return False
        for held in fault.held:
            self.judge(*held)
        return True

    def judge(self, to: int, message: object, send: Deed, lose: Deed) -> None:
        """Send a message, now, later or when a fault ends, or lose it.

        Args:
            to: the receiving node, or connection of a client.
            message: the core's message that it carries; anything else for what the core does not know.
            send: puts it on the wire.
            lose: does what must be done if it never gets there.
        """
        late = 0
        holder: _Fault | None = None
        for fault in self._faults.values():
            for rule in fault.rules:
                if not rule.carries(to, message):
                    continue
                if rule.effect == "drop" or (rule.effect == "lose" and self._noise.random() * 1_000 < rule.amount):
                    lose()
                    return
                if rule.effect == "hold":
                    holder = holder or fault
                elif rule.effect == "delay":
                    late += int(self._noise.random() * (rule.amount + 1))
        if holder is not None:
            holder.held.append(_Held(to, message, send, lose))
        elif late:
            self._call_later(late / 1e6, send)
        else:
            send()
