"""Who belongs to a group, as entries of its log (Ongaro, "Consensus: Bridging Theory and Practice", 2014, section 4.1).

An entry of a configuration is a record with a negative value, as the one that a leader begins with; it lies in a batch of its own.
From when it is in a server's log it is what that server goes by, committed or not, and if it is cut off, the one before it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.nodes.core.log import Batch, Log

_GENERATIONS = 32
"""So many bits of an entry's number are its generation; those above are servers."""


class Configuration(NamedTuple):
    """The members of a group, and the entry that says so; −1, −1 for the first, which is in no log."""

    offset: int
    generation: int
    members: tuple[int, ...]


def written(members: Sequence[int], generation: int) -> int:
    """The value of an entry.

    >>> written((1, 2, 4), 7) == -1 - ((0b10110 << 32) | 7)
    True
    """
    return -1 - ((sum(1 << server for server in members) << _GENERATIONS) | generation)


def members_of(value: object) -> tuple[int, ...]:
    """The servers that an entry names, lowest first; none if it is another entry.

    >>> members_of(written((4, 1, 2), 7)), members_of(-1 - 7), members_of(7)
    ((1, 2, 4), (), ())
    """
    if not isinstance(value, int) or value >= 0:
        return ()
    servers = (-1 - value) >> _GENERATIONS
    return tuple(server for server in range(servers.bit_length()) if servers >> server & 1)


class Configurations:
    """The configurations in one server's log, oldest first; before them the one that it began with."""

    def __init__(self, first: Sequence[int], log: Log) -> None:
        """Read a log that recovery left."""
        self._known = [Configuration(-1, -1, tuple(first))]
        for batch in log.batches:
            self.take(batch)

    @property
    def newest(self) -> Configuration:
        """The one that counts."""
        return self._known[-1]

    def below(self, offset: int) -> Configuration:
        """The newest one whose entry lies below an offset."""
        return next(one for one in reversed(self._known) if one.offset < offset)

    def take(self, batch: Batch) -> bool:
        """A batch is in the log; says whether it brings another configuration. Where batches know whose they are, a client's, with
        whatever number in it, does not.
        """
        own = getattr(batch.values, "control", True)
        members = members_of(batch.values[0]) if own and batch.values else ()
        if members:
            self._known.append(Configuration(batch.base, batch.epoch, members))
        return bool(members)

    def cut(self, end: int) -> bool:
        """The log ends at ``end`` now; says whether a configuration went."""
        before = len(self._known)
        while self._known[-1].offset >= end:
            self._known.pop()
        return len(self._known) < before
