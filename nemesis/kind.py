"""What there is to know of a kind of fault: the shape of a row of :data:`tidemark.nemesis.kinds.KINDS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import ClassVar

from tidemark.nemesis.links import WhichLinks
from tidemark.nemesis.sentence import Sentence
from tidemark.nodes.core.settings import LONGEST_US

WHOLE = 1000
"""Thousandths."""
MOST_BITS = 1_000_000

Draw = Callable[[Random], int]


class Part(StrEnum):
    """What a kind acts on."""

    LINKS = "links"
    TALK = "a broker's talk with the controller"
    PROCESS = "process"
    LEADERSHIP = "leadership"
    RECORDS = "records"
    REPLICAS = "replicas"
    SETTINGS = "settings"
    CONTROLLER = "controller"
    MACHINE = "machine"
    FILES = "files"


class Unit(StrEnum):
    """What an amount is: a time that belongs to the protocol's own times, another time (both in µs), a share in thousandths, or a
    number of bits, of replicas, or of bytes a second.
    """

    TIME = "time"
    WALL_TIME = "wall time"
    SHARE = "share"
    BITS = "bits"
    RATE = "bytes a second"
    REPLICAS = "replicas"


@dataclass(frozen=True, slots=True)
class Amount:
    """What a kind's `amount` means.

    Attributes:
        drawn: how random plans draw it; None: they do not have the kind. hunted: how hunts do, if otherwise.
        beyond: whether a share above the whole means something, up to twice the whole.
    """

    unit: Unit
    drawn: Draw | None = None
    hunted: Draw | None = None
    beyond: bool = False

    @property
    def most(self) -> int:
        """The largest."""
        return {Unit.SHARE: WHOLE * (1 + self.beyond), Unit.BITS: MOST_BITS}.get(self.unit, LONGEST_US)

    def most_of(self, amount: int) -> int:
        """The largest of its like: a share within the whole stays there."""
        return WHOLE if self.unit is Unit.SHARE and amount <= WHOLE else self.most


class Doing:
    """What the injector does. What is done ``at_once`` leaves nothing to undo; of what is ``traced`` the trace tells the end."""

    at_once: ClassVar[bool] = False
    traced: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class OnLinks(Doing):
    """Put an effect on links: ``cut``, ``slow``, ``lossy``, or late or lost messages of a kind."""

    effect: str
    links: WhichLinks


@dataclass(frozen=True, slots=True)
class Stop(Doing):
    """End a process, or all brokers'; start it again at the end.

    Attributes:
        how: ``crash``, ``power``, ``disk``, ``container``, ``clean``, ``damage`` or ``leave``.
        of_all: of all brokers. takes_back: the file system had not committed metadata (`amount`, `pick`).
        by_file: it commits the metadata of each file by itself, as POSIX permits; else all of it, in order, with any sync.
        damages: what is done to its files then (:mod:`tidemark.nodes.core.damage`); empty: nothing.
    """

    traced = True
    how: str
    of_all: bool = False
    takes_back: bool = False
    by_file: bool = False
    damages: str = ""


class Pause(Doing):
    """SIGSTOP, and SIGCONT at the end."""

    traced = True


@dataclass(frozen=True, slots=True)
class Hinder(Doing):
    """Whatever else is done to a broker, and undone: the world knows how, by the kind. By ``signed``, an odd `pick` turns the
    amount round. ``of_syncs``: it acts on what the broker syncs.
    """

    signed: bool = False
    of_syncs: bool = False


@dataclass(frozen=True, slots=True)
class Elect(Doing):
    """Ask the controller for an election: ``preferred``, ``forced`` or ``unclean``."""

    at_once = True
    how: str


class FailOver(Doing):
    """Two forced elections, and perhaps one broker that is deaf to the controller meanwhile."""


class DeleteRecords(Doing):
    """Have a client delete records."""

    at_once = True


class Retain(Doing):
    """Have a broker's retention delete."""

    at_once = True


@dataclass(frozen=True, slots=True)
class Move(Doing):
    """Ask the controller for a reassignment: another broker in the place of one, one more, or one fewer."""

    at_once = True
    one_more: bool = False
    one_fewer: bool = False


class TakeBack(Doing):
    """Ask the controller to take back the reassignment that is under way."""

    at_once = True


class SetMinIsr(Doing):
    """Set min ISR to the amount, at least 1 and at most the replication factor; at the end, to what the plan's cluster has."""


class AllowUnclean(Doing):
    """Allow unclean elections; at the end, as the plan's cluster has it."""


class SwitchElr(Doing):
    """Switch ELR off; at the end, on."""


class RemoveVoter(Doing):
    """Take a controller, by `pick`, out of the voters of its quorum; at the end, put it in again."""


class MoveLog(Doing):
    """Have a broker move a replica to its other log directory, at the amount's rate, or as fast as it can; at the end, that."""


@dataclass(frozen=True, slots=True)
class FailLogDir(Doing):
    """Have one of a broker's log directories fail; at the end it is mended, or an empty one takes its place, and the broker is
    restarted: no broker takes a directory online again while it runs (KIP-112).
    """

    emptied: bool = False


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of fault.

    Attributes:
        word: what plans call it.
        sentence: what it does.
        on: what it acts on.
        doing: what the injector does, and with that when it ends: at once, or when its duration is over.
        drawn_with: the set of kinds with which profiles have it (:data:`tidemark.nemesis.profiles.PROFILES`); empty: none has.
        amount: what `amount` means; None: nothing.
        needs: what must be there for it, the most telling first; families and systems say what they lack.
        gentler: the next kind that does less.
        holds_back: whom it keeps from what it should do, as the history's meta line says it (docs/history.md).
        aimed_at: whom random plans have it strike; empty: any role.
        by_event: share of random faults of the kind that wait for a trace event. awaits: for which; empty: for any.
        by_chance: whether it draws from its noise stream though delays are fixed.
        only_simulated: only a simulated disk can do it. only_real: it needs a real disk or clock.
    """

    word: str
    sentence: Sentence
    on: Part
    doing: Doing
    drawn_with: str = ""
    amount: Amount | None = None
    needs: tuple[str, ...] = ()
    gentler: str = ""
    holds_back: str = "node"
    aimed_at: str = ""
    by_event: float = 0.25
    awaits: tuple[str, ...] = ()
    by_chance: bool = False
    only_simulated: bool = False
    only_real: bool = False

    def draw_amount(self, rng: Random, *, hunt: bool = False) -> int:
        """An amount for a random plan, or for a hunt's; 0 where it means nothing."""
        draw = self.amount and ((hunt and self.amount.hunted) or self.amount.drawn)
        return draw(rng) if draw else 0

    @property
    def of_one_broker(self) -> bool:
        """Whether its target means anything."""
        return self.on is not Part.CONTROLLER and not (isinstance(self.doing, Stop) and self.doing.of_all)

    @property
    def of_syncs(self) -> bool:
        """Whether what was synced, or when, makes a difference to it."""
        if isinstance(self.doing, Hinder):
            return self.doing.of_syncs
        return isinstance(self.doing, Stop) and self.doing.how in {"power", "damage"}

    def over_at_once(self, detail: object) -> bool:
        """Whether a fault was over when it had struck, by what the nemesis noted of it."""
        if isinstance(self.doing, FailOver):
            return isinstance(detail, Mapping) and "then" in detail and "deaf" not in detail
        return self.doing.at_once


def between(low: int, high: int) -> Draw:
    """Short and long are equally likely."""
    return lambda rng: log_uniform(rng, low, high)


def one_of(*values: int) -> Draw:
    """Any of these."""
    return lambda rng: rng.choice(values)


def log_uniform(rng: Random, low: int, high: int) -> int:
    """Short and long are equally likely."""
    return int(low * (high / low) ** rng.random())
