"""One fault as a plain value: what, whom, when, for how long."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from tidemark.nemesis.kind import Kind, Part, Unit
from tidemark.nemesis.kinds import KINDS, late_or_lost

TARGETS = ("leader", "follower", "isr-member", "any")
TRIGGER_EVENTS = (
    *("append", "truncate", "hw", "lead", "follow", "fetched", "isr", "elect", "isr-change", "start"),
    *("log-start", "reassign", "removed", "members", "controls"),
)


def messages_of(fault: Fault) -> tuple[str, ...]:
    """The kinds of messages that must be told apart to do a fault.

    >>> messages_of(Fault("late-heartbeats", 0, pick=1)), messages_of(Fault("late-heartbeats", 0, pick=2))
    (('heartbeats',), ('heartbeat answers',))
    """
    found = late_or_lost(fault.kind)
    if found is None:
        return ()
    to, of = found[1]
    ways = ((to, of), (to,), (of,))[fault.pick % 3] if fault.row.on is Part.TALK else (of,)
    return tuple(ways)


class FaultError(ValueError):
    """A fault that makes no sense; the message says what is wrong."""


@dataclass(frozen=True, slots=True)
class Trigger:
    """Strike after the ``nth`` trace event of a kind (see docs/history.md) at a node (0: anywhere)."""

    event: str
    nth: int
    node: int = 0


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault; immutable, so plans can be compared, cut down and stored.

    Attributes:
        kind: a key of :data:`~tidemark.nemesis.kinds.KINDS`.
        at_us: when it strikes; with ``after``, not before that event *and* this time.
        lasts_us: when it is healed, counted from the strike (elections ignore it).
        target: a role, resolved when it strikes, or ``"bN"`` for broker N.
        pick: which of several candidates, modulo their number.
        partition: number of the partition whose roles are meant, modulo their number.
        amount: the kind's measure (µs, per mille, bits, or replicas).
        clients: whether clients are cut off as well (partitions only).
        after: strike after a trace event instead of at a time.
    """

    kind: str
    at_us: int
    lasts_us: int = 0
    target: str = "leader"
    pick: int = 0
    partition: int = 0
    amount: int = 0
    clients: bool = False
    after: Trigger | None = None

    def __post_init__(self) -> None:
        """Refuse unknown words, negative times, and shares above the whole."""
        if self.kind not in KINDS:
            raise FaultError(f"unknown kind of fault {self.kind!r}: known are {', '.join(KINDS)}")
        if self.target not in TARGETS and not (self.target[:1] == "b" and self.target[1:].isdecimal()):
            raise FaultError(f"unknown target {self.target!r}: use {', '.join(TARGETS)} or a broker such as b1")
        if min(self.at_us, self.lasts_us, self.pick, self.partition, self.amount) < 0:
            raise FaultError("times, amounts and picks must not be negative")
        of = self.row.amount
        if of is not None and of.unit is Unit.BITS and self.amount > of.most:
            raise FaultError(f"the amount of {self.kind} is at most {of.most} bits, and is {self.amount}")
        if of is not None and of.unit is Unit.SHARE and self.amount > of.most:
            raise FaultError(f"the amount of {self.kind} is per mille, at most {of.most}, and is {self.amount}")
        if self.after is not None and (self.after.event not in TRIGGER_EVENTS or self.after.nth < 1):
            raise FaultError(f"a trigger needs nth ≥ 1 and an event among {', '.join(TRIGGER_EVENTS)}")

    @property
    def row(self) -> Kind:
        """What there is to know of its kind."""
        return KINDS[self.kind]

    @property
    def amount_is_time(self) -> bool:
        """Whether its `amount` is a time that belongs to the protocol's own times (a clock's jump does not)."""
        return self.row.amount is not None and self.row.amount.unit is Unit.TIME

    def to_json(self) -> dict[str, Any]:
        """Plain values, defaults left out."""
        told: dict[str, Any] = {"kind": self.kind, "at_us": self.at_us}
        told |= {name: value for name, usual in _USUAL if (value := getattr(self, name)) != usual}
        return told if self.after is None else told | {"after": asdict(self.after)}

    @staticmethod
    def from_json(data: Any) -> Fault:  # noqa: ANN401 - anything a file may hold
        """The reverse of :meth:`to_json`.

        Raises:
            FaultError: missing, unknown or wrongly typed entries.
        """
        if not isinstance(data, dict) or "kind" not in data or "at_us" not in data:
            raise FaultError("a fault is an object with at least kind and at_us")
        known = {f.name for f in fields(Fault)}
        for name, value in data.items():
            if name not in known:
                raise FaultError(f"unknown entry {name!r}")
            wanted = str if name in {"kind", "target"} else bool if name == "clients" else int
            if name != "after" and type(value) is not wanted:
                raise FaultError(f"{name} must be {wanted.__name__}, not {value!r}")
        after = data.get("after")
        return Fault(**{**data, "after": None if after is None else _trigger(after)})


_USUAL = tuple((f.name, f.default) for f in fields(Fault) if f.name not in {"kind", "at_us"})


def _trigger(data: object) -> Trigger:
    wanted = {"event": str, "nth": int, "node": int}
    if (
        not isinstance(data, dict)
        or not {"event", "nth"} <= set(data) <= set(wanted)
        or any(type(value) is not wanted[name] for name, value in data.items())
    ):
        raise FaultError("after is an object with event, nth and, if wanted, node: a word and numbers")
    return Trigger(**data)
