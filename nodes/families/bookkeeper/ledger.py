"""What the metadata store holds of a ledger, and which bookies an entry lies on (BookKeeper's documentation, "The protocol")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

OPEN, IN_RECOVERY, CLOSED = "open", "in-recovery", "closed"
NO_ENTRY = -1


@dataclass(frozen=True, slots=True)
class Fragment:
    """From entry ``first`` on, entries lie on this ensemble of bookies."""

    first: int
    ensemble: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Ledger:
    """A ledger's metadata.

    Attributes:
        number: 1, 2, 3 …: its place in the log that ledgers make up, and the generation of its entries.
        writer: who opened it.
        base: the offset in that log at which it begins.
        write, ack: on how many bookies an entry is written, and how many must say that they have it.
        fragments: in order of their first entries.
        last, end: once it is closed its last entry, −1 for none, and the offset behind it.
    """

    number: int
    writer: int
    base: int
    write: int
    ack: int
    fragments: tuple[Fragment, ...]
    state: str = OPEN
    last: int = NO_ENTRY
    end: int = -1

    @property
    def closed(self) -> bool:
        """Whether it is known where it ends."""
        return self.state == CLOSED

    @property
    def enough_without(self) -> int:
        """So many bookies of an entry's write set must be without it, or fenced, for nobody to have an ack quorum."""
        return self.write - self.ack + 1


def ensemble_at(fragments: Sequence[Fragment], entry: int) -> tuple[int, ...]:
    """The ensemble that an entry belongs to."""
    return next(one.ensemble for one in reversed(fragments) if one.first <= entry)


def write_set(ensemble: Sequence[int], entry: int, write: int) -> tuple[int, ...]:
    """The bookies of an entry: striped, round robin.

    >>> [write_set((1, 2, 3, 4), entry, 3) for entry in range(3)]
    [(1, 2, 3), (2, 3, 4), (3, 4, 1)]
    """
    return tuple(ensemble[(entry + place) % len(ensemble)] for place in range(write))


def covers(ledger: Ledger, ensemble: Sequence[int], answered: Collection[int]) -> bool:
    """Whether of every write set so many bookies have answered that the others are no ack quorum."""
    return all(
        sum(bookie in answered for bookie in write_set(ensemble, first, ledger.write)) >= ledger.enough_without
        for first in range(len(ensemble))
    )
