"""One fault as a plain value: what, whom, when, for how long."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

KINDS: dict[str, str] = {
    "isolate": "cut the target from all other brokers and the controller",
    "from-peers": "cut the target from the other brokers; the controller still hears it",
    "from-controller": "cut the target from the controller; brokers and clients still reach it",
    "halves": "cut the brokers into two halves; the controller stays with the target's",
    "one-way-in": "nothing from other brokers and the controller reaches the target",
    "one-way-out": "nothing from the target reaches other brokers and the controller",
    "slow": "messages between the target and other brokers take up to `amount` µs longer",
    "lossy": "messages between the target and other brokers are lost with `amount` per mille",
    "late-leadership": "the controller's leadership messages reach the target up to `amount` µs later, out of order",
    "lost-leadership": "the controller's leadership messages to the target are lost",
    "slow-controller": "messages between the target and the controller take up to `amount` µs longer (`pick`: both ways, to it, "
    "from it)",
    "lossy-controller": "messages between the target and the controller are lost with `amount` per mille (`pick` as above)",
    "late-isr-changes": "ISR changes (AlterPartition) that the target asks of the controller, or the answers, take up to "
    "`amount` µs longer, out of order (`pick` as above)",
    "lost-isr-changes": "these requests, or the answers, are lost (`pick` as above)",
    "late-heartbeats": "the target's heartbeats, or the answers, take up to `amount` µs longer, out of order (`pick` as above)",
    "lost-heartbeats": "these heartbeats, or the answers, are lost (`pick` as above)",
    "late-registrations": "the target's registrations, or the answers, take up to `amount` µs longer (`pick` as above)",
    "lost-registrations": "these registrations, or the answers, are lost (`pick` as above)",
    "crash": "kill -9 the target; it starts again at the end (what was written survives)",
    "crash-all": "kill -9 all brokers; they start again at the end",
    "restart": "shut the target down cleanly; it starts again at the end",
    "pause": "SIGSTOP the target, SIGCONT at the end",
    "power": "power loss of the target: what was not synced may be gone",
    "power-all": "power loss of all brokers at once",
    "power-metadata": "power loss of the target whose file system had not committed the metadata of the last `amount` µs: "
    "truncations and checkpoint files are taken back (`pick`: both, truncations, files)",
    "disk": "the target loses its disk; it starts again empty at the end",
    "preferred-election": "elect the preferred leader",
    "forced-election": "elect the target, if it may lead without loss",
    "unclean-election": "elect the target, in sync or not (an operator's decision)",
    "fast-failover": "elect the target and, `amount` µs later, another replica or the old leader; by `pick`, the old leader or "
    "a bystander may be deaf to the controller meanwhile",
    "delete-records": "a client deletes records: `amount` per mille of those from the leader's log start to its high watermark",
    "retention": "the target's retention deletes its oldest batches: `amount` per mille of those below its high watermark",
    "reassignment": "move the partition's replica from the target to a broker that has none; by `pick`, which one, and whether it "
    "takes the target's place in the order or the last (odd)",
    "controller-isolated": "cut the controller from all brokers",
    "controller-crash": "kill -9 the controller's process; it starts again at the end, with what it wrote",
    "container-kill": "kill the target's container: only what was synced survives; it starts again at the end",
    "disconnect": "take the target off the network: brokers, controller and clients alike",
    "disk-full": "fill the target's disk; at the end there is room again, and a broker that gave up starts again",
    "slow-disk": "every write and sync of the target takes `amount` µs longer",
    "clock-jump": "the target's wall clock jumps `amount` µs ahead, or back for an odd `pick`, and returns at the end",
}
"""Kind of fault → what it does (docs/faults.md)."""

MACHINE_KINDS = ("container-kill", "disconnect", "disk-full", "slow-disk", "clock-jump")
"""What happens to a machine rather than to a process or a link."""

HINDRANCES = frozenset(MACHINE_KINDS) - {"container-kill"}
"""The kinds under which the process goes on, if it can."""

DELETIONS = ("delete-records", "retention")
"""What deletes records on purpose: a request to the leader, and what each broker does by itself."""

REASSIGNMENT = "reassignment"
"""Moves a replica; the controller says how that goes on."""

CONTROLLER_KINDS = ("controller-isolated", "controller-crash")
"""What happens to the controller; a fault's target means nothing here."""

LASTING_CONTROLLER_ONLY = frozenset({"controller-crash"})
"""What only a controller survives that keeps what it knows: Kafka's, and ours where they are handed over."""

SIMULATED_ONLY = frozenset({"power-metadata"})
"""What only a simulated disk can do: worlds with real file systems refuse plans with these."""

REAL_ONLY = frozenset({"disk-full", "slow-disk", "clock-jump"})
"""What needs a real disk or clock: the simulator refuses plans with these."""

LINK_FAULTS = (
    "isolate",
    "from-peers",
    "from-controller",
    "halves",
    "one-way-in",
    "one-way-out",
    "slow",
    "lossy",
    "late-leadership",
    "lost-leadership",
)
"""The kinds that act on links, and not on processes or leadership."""

MESSAGES: dict[str, tuple[str, str]] = {
    "leadership": ("", "leadership"),
    "isr-changes": ("ISR changes", "ISR answers"),
    "heartbeats": ("heartbeats", "heartbeat answers"),
    "registrations": ("registrations", "registration answers"),
}
"""What the kinds `late-…` and `lost-…` act on: kinds of messages (`tidemark.nodes.core.messages.KINDS`) to the controller, and
from it."""

CONTROLLER_LINKS = (
    "slow-controller",
    "lossy-controller",
    *(f"{how}-{what}" for what in MESSAGES if what != "leadership" for how in ("late", "lost")),
)
"""The kinds that act on the links between the target and the controller, in one direction or both."""

AMOUNT_IS_TIME = frozenset(
    {"slow", "slow-controller", "fast-failover", "slow-disk", "power-metadata", *(f"late-{what}" for what in MESSAGES)}
)
"""The kinds whose `amount` is a time that belongs to the protocol's own times (a clock's jump does not)."""

PER_MILLE = frozenset({"lossy", "lossy-controller", "delete-records", "retention"})
"""The kinds whose `amount` is a share, in thousandths."""
WHOLE = 1000
"""Thousandths."""

TARGETS = ("leader", "follower", "isr-member", "any")
TRIGGER_EVENTS = (
    *("append", "truncate", "hw", "lead", "follow", "fetched", "isr", "elect", "isr-change", "start"),
    *("log-start", "reassign", "removed", "members"),
)


def late_or_lost(effect: str) -> tuple[str, tuple[str, str]] | None:
    """``late`` or ``lost``, and the kinds of messages to the controller and from it; `None` for what acts on all messages.

    >>> late_or_lost("lost-isr-changes")
    ('lost', ('ISR changes', 'ISR answers'))
    >>> late_or_lost("slow")
    """
    how, _, what = effect.partition("-")
    return (how, MESSAGES[what]) if how in ("late", "lost") and what in MESSAGES else None


def messages_of(fault: Fault) -> tuple[str, ...]:
    """The kinds of messages that must be told apart to do a fault.

    >>> messages_of(Fault("late-heartbeats", 0, pick=1)), messages_of(Fault("late-heartbeats", 0, pick=2))
    (('heartbeats',), ('heartbeat answers',))
    """
    found = late_or_lost(fault.kind)
    if found is None:
        return ()
    to, of = found[1]
    ways = ((to, of), (to,), (of,))[fault.pick % 3] if fault.kind in CONTROLLER_LINKS else (of,)
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
        kind: a key of :data:`KINDS`.
        at_us: when it strikes; with ``after``, not before that event *and* this time.
        lasts_us: when it is healed, counted from the strike (elections ignore it).
        target: a role, resolved when it strikes, or ``"bN"`` for broker N.
        pick: which of several candidates, modulo their number.
        partition: number of the partition whose roles are meant, modulo their number.
        amount: the kind's measure (µs or per mille).
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
            msg = f"unknown kind of fault {self.kind!r}: known are {', '.join(KINDS)}"
            raise FaultError(msg)
        if self.target not in TARGETS and not (self.target[:1] == "b" and self.target[1:].isdecimal()):
            msg = f"unknown target {self.target!r}: use {', '.join(TARGETS)} or a broker such as b1"
            raise FaultError(msg)
        if min(self.at_us, self.lasts_us, self.pick, self.partition, self.amount) < 0:
            msg = "times, amounts and picks must not be negative"
            raise FaultError(msg)
        if self.kind in PER_MILLE and self.amount > WHOLE:
            msg = f"the amount of {self.kind} is per mille, at most {WHOLE}, and is {self.amount}"
            raise FaultError(msg)
        if self.after is not None and (self.after.event not in TRIGGER_EVENTS or self.after.nth < 1):
            msg = f"a trigger needs nth ≥ 1 and an event among {', '.join(TRIGGER_EVENTS)}"
            raise FaultError(msg)

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
            msg = "a fault is an object with at least kind and at_us"
            raise FaultError(msg)
        known = {f.name for f in fields(Fault)}
        for name, value in data.items():
            if name not in known:
                msg = f"unknown entry {name!r}"
                raise FaultError(msg)
            wanted = str if name in {"kind", "target"} else bool if name == "clients" else int
            if name != "after" and type(value) is not wanted:
                msg = f"{name} must be {wanted.__name__}, not {value!r}"
                raise FaultError(msg)
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
        msg = "after is an object with event, nth and, if wanted, node: a word and numbers"
        raise FaultError(msg)
    return Trigger(**data)
