"""What happens to the messages of a node that is tested: rules by kind, sender and receiver, in force under a key.

They stand in for ``tc netem``, which not every kernel has, and can do what it cannot: tell messages apart. A node's own transport
applies them to what it sends; beside a real broker, the proxies do to what they pass on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from random import Random
from typing import NamedTuple

from tidemark.nodes.core.messages import KINDS

EFFECTS = ("drop", "hold", "delay", "lose")
FIRST_CLIENT = 1_000
"""Number of the first connection; node ids are below. The core knows a client by the number of its connection."""

Key = str | int
_ENTRIES = frozenset({"kind", "from", "to", "effect", "amount"})


class RuleError(ValueError):
    """A rule that cannot be; the message says what can."""


class MessageRule(NamedTuple):
    """What happens to messages of a kind (None: all but those to clients) from a node to a node (None: any).

    ``amount`` is µs for ``delay`` (up to so much, drawn for each message) and per mille for ``lose``.
    """

    kind: str | None
    source: int | None
    to: int | None
    effect: str
    amount: int = 0

    @staticmethod
    def from_json(data: object, kinds: Collection[str] = KINDS) -> MessageRule:
        """Check plain values.

        Args:
            data: of the rule.
            kinds: those that can be told apart.

        Raises:
            RuleError: an entry is missing, unknown or impossible.
        """
        if not isinstance(data, dict) or not {"effect"} <= set(data) <= _ENTRIES:
            raise RuleError("a rule has an effect, and may have a kind, from, to and an amount")
        kind, effect, amount = data.get("kind"), data["effect"], data.get("amount", 0)
        if kind is not None and kind not in kinds:
            raise RuleError(f"kind must be null or one of {', '.join(kinds)}, not {kind!r}")
        for end in ("from", "to"):
            node = data.get(end)
            if node is not None and (type(node) is not int or node < 0):
                raise RuleError(f"{end} must be null or a node's number, not {node!r}")
        if effect not in EFFECTS:
            raise RuleError(f"effect must be one of {', '.join(EFFECTS)}, not {effect!r}")
        if type(amount) is not int or amount < 0 or (effect == "lose" and amount > 1_000):
            raise RuleError(f"amount must be a whole number that is not negative (lose: per mille), not {amount!r}")
        return MessageRule(kind, data.get("from"), data.get("to"), effect, amount)

    def carries(self, kinds: Sequence[str], source: int, to: int) -> bool:
        """Whether a message of these kinds falls under the rule."""
        concerned = to < FIRST_CLIENT if self.kind is None else self.kind in kinds
        return concerned and self.source in (None, source) and self.to in (None, to)


class Ruling(NamedTuple):
    """What happens to one message.

    Attributes:
        effect: ``drop``, ``lose`` (the draw was unlucky), ``hold``, or ``delay`` (by ``late_us``, 0: nothing happens).
        key: of the fault that drops, loses or holds it.
    """

    effect: str
    key: Key = ""
    late_us: int = 0


UNHARMED = Ruling("delay")


class MessageRules:
    """The rules in force on one machine.

    Args:
        noise: draws what is lost, and how late the rest is.
    """

    def __init__(self, noise: Random) -> None:
        """None are in force."""
        self._noise = noise
        self._faults: dict[Key, list[MessageRule]] = {}
        self._on_clear: list[Callable[[Key], None]] = []

    @property
    def keys(self) -> list[Key]:
        """The keys in force."""
        return list(self._faults)

    def loses(self, kind: str) -> bool:
        """Whether a rule about this kind, and no other, loses messages."""
        rules = [rule for rules in self._faults.values() for rule in rules]
        return any(rule.kind == kind and rule.effect in ("drop", "lose") for rule in rules)

    def put(self, key: Key, rules: list[MessageRule]) -> None:
        """Put rules in force, also for messages to come on connections that exist; those that had the key end."""
        self.clear(key)
        self._faults[key] = list(rules)

    def clear(self, key: Key) -> bool:
        """End rules; says whether there were any. What they held goes on, unless other rules concern it."""
        found = self._faults.pop(key, None) is not None
        if found:
            for tell in list(self._on_clear):
                tell(key)
        return found

    def on_clear(self, tell: Callable[[Key], None]) -> None:
        """Be told each key that was cleared."""
        self._on_clear.append(tell)

    def off_clear(self, tell: Callable[[Key], None]) -> None:
        """Be told no more."""
        self._on_clear.remove(tell)

    def judge(self, kinds: Sequence[str], source: int, to: int) -> Ruling:
        """What happens to a message now: losing beats holding, holding beats delaying, and delays add up.

        What a machine says to itself is nobody's business.
        """
        if not self._faults or source == to:
            return UNHARMED
        late, holder = 0, None
        for key, rules in self._faults.items():
            for rule in rules:
                if not rule.carries(kinds, source, to):
                    continue
                if rule.effect == "drop":
                    return Ruling("drop", key)
                if rule.effect == "lose":
                    if self._noise.random() * 1_000 < rule.amount:
                        return Ruling("lose", key)
                elif rule.effect == "hold":
                    holder = holder or Ruling("hold", key)
                else:
                    late += int(self._noise.random() * (rule.amount + 1))
        return holder or (Ruling("delay", late_us=late) if late else UNHARMED)
