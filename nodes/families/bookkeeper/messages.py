"""Messages to bookies and to the metadata store. An entry is a batch; ``ledger`` and ``entry`` are its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidemark.nodes.core.log import Batch
    from tidemark.nodes.families.bookkeeper.ledger import Ledger

OK, FENCED, NO_SUCH_ENTRY, UNKNOWN = "ok", "fenced", "no-such-entry", "unknown"


@dataclass(slots=True)
class AddEntry:
    """Store an entry; ``lac`` is the last one that the writer knows to be confirmed. In recovery a fence does not count."""

    source: int
    partition: str
    ledger: int
    entry: int
    lac: int
    batch: Batch
    recovery: bool


@dataclass(slots=True)
class AddResponse:
    """``OK``, when it is on disk, or ``FENCED``."""

    source: int
    partition: str
    ledger: int
    entry: int
    status: str
    recovery: bool


@dataclass(slots=True)
class WriteLac:
    """What is confirmed, when there is no entry to say it with (BookKeeper's explicit LAC)."""

    source: int
    partition: str
    ledger: int
    lac: int


@dataclass(slots=True)
class ReadLac:
    """What does this bookie know to be confirmed? Whoever recovers fences the ledger with it."""

    source: int
    partition: str
    ledger: int
    correlation: int


@dataclass(slots=True)
class ReadLacResponse:
    """The answer; ``UNKNOWN`` of a bookie that has lost its disk and may have had entries."""

    source: int
    partition: str
    ledger: int
    status: str
    lac: int
    correlation: int


@dataclass(slots=True)
class RecoveryRead:
    """Does this bookie have the entry?"""

    source: int
    partition: str
    ledger: int
    entry: int
    fence: bool
    correlation: int


@dataclass(slots=True)
class RecoveryReadResponse:
    """The entry, or ``NO_SUCH_ENTRY``, or ``UNKNOWN`` of a bookie that has lost its disk and may have had it."""

    source: int
    partition: str
    ledger: int
    entry: int
    status: str
    batch: Batch | None
    correlation: int


@dataclass(slots=True)
class ReadEntries:
    """All from an entry on."""

    source: int
    partition: str
    ledger: int
    first: int


@dataclass(slots=True)
class ReadEntriesResponse:
    """Those that the bookie has, by number, and what it knows to be confirmed."""

    source: int
    partition: str
    ledger: int
    entries: dict[int, Batch]
    lac: int


@dataclass(slots=True)
class RegisterBookie:
    """A bookie without a cookie on its disk asks for one."""

    source: int
    partition: str
    incarnation: int


@dataclass(slots=True)
class BookieRegistered:
    """Of ledgers up to ``limbo`` it may have had entries before, and lost them; 0: of none."""

    source: int
    partition: str
    incarnation: int
    limbo: int


@dataclass(slots=True)
class Acquire:
    """I want to own the partition, as the one after owner ``number``; by force, whoever owns it."""

    source: int
    partition: str
    number: int
    by_force: bool


@dataclass(slots=True)
class Update:
    """Compare and set: these are the ledgers, if the version is still this one."""

    source: int
    partition: str
    version: int
    ledgers: tuple[Ledger, ...]
    correlation: int


@dataclass(slots=True)
class Updated:
    """Whether they are, and the version and ledgers now."""

    source: int
    partition: str
    correlation: int
    done: bool
    version: int
    ledgers: tuple[Ledger, ...]


@dataclass(slots=True)
class Metadata:
    """All that the store has of a partition, told whenever it changes: ``stamp`` counts changes.

    ``owner`` is who has the lock, −1 for nobody, as the ``number``-th owner; ``live`` are the bookies that have a session.
    """

    source: int
    partition: str
    stamp: int
    owner: int
    number: int
    version: int
    ledgers: tuple[Ledger, ...]
    live: tuple[int, ...]
