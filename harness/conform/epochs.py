"""Leader epochs renumbered: those of one world in the numbers of another.

Real Kafka spends leader epochs that no script counts: for a follower's controlled shutdown, for a leader that is away a moment,
for a first leader whose epoch nobody can choose. So epochs are matched, in order, by the records that were written in
them, and where none were, by who led. One without a match belongs to its neighbour's if the same leader
goes on, and else is called after the one before it: ``2+``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from tidemark.checkers.history.trace_events import KIND, Append, Elect, Lead, TraceEvent

NOBODY = -1
_BY_RECORDS, _BY_LEADER = 1_000, 10
_UNMATCHED = 1_000_000
"""Codes from here on stand for epochs without a match."""


class Reign(NamedTuple):
    """A leader epoch: its number, who led (`NOBODY` if none did, or it is not known), and the values written in it."""

    epoch: int
    leader: int
    values: frozenset[int]


def reigns(trace: Iterable[TraceEvent]) -> list[Reign]:
    """All leader epochs of a run, in order."""
    leaders: dict[int, int] = {}
    values: defaultdict[int, set[int]] = defaultdict(set)
    written: set[int] = set()
    for event in trace:
        match event[KIND]:
            case Elect.kind:
                elect = Elect(event)
                leaders.setdefault(elect.leader_epoch, elect.leader)
            case Lead.kind:
                lead = Lead(event)
                leaders[lead.leader_epoch] = lead.node
            case Append.kind:
                append = Append(event)
                values[append.epoch].update(value for value in append.values if value not in written)
                written.update(append.values)
    known = sorted(epoch for epoch in leaders.keys() | values.keys() if epoch >= 0)
    return [Reign(epoch, leaders.get(epoch, NOBODY), frozenset(values[epoch])) for epoch in known]


@dataclass(frozen=True, slots=True)
class Renumbering:
    """From one world's epochs to another's.

    Attributes:
        codes: epoch → the number it is given; equal numbers are one epoch to whoever compares.
        names: what codes are called that are no number of the other world.
        spent: epochs without a match, in words.
    """

    codes: dict[int, int]
    names: dict[int, str]
    spent: tuple[str, ...]

    def code(self, epoch: int) -> int:
        """The number of an epoch; one that nobody led or wrote in gets that of the one before it."""
        if epoch < 0 or epoch in self.codes:
            return self.codes.get(epoch, epoch)
        return max((code for known, code in self.codes.items() if known < epoch), default=epoch)

    def told(self, text: str) -> str:
        """A text with codes, with the names that stand for them."""
        return re.sub(r"\b1\d{6}\b", lambda found: self.names.get(int(found[0]), found[0]), text)


def renumber(reference: Sequence[Reign], other: Sequence[Reign]) -> Renumbering:
    """Match `other`'s epochs with `reference`'s."""
    matched = _matches(reference, other)
    for reign in other:
        alike = (one.epoch for one in reference if one.values & reign.values and one.leader == reign.leader)
        if reign.epoch not in matched and (found := next(alike, None)) is not None:
            matched[reign.epoch] = found
    codes: dict[int, int] = {}
    names: dict[int, str] = {}
    spent = []
    for place, reign in enumerate(other):
        code = matched.get(reign.epoch)
        if code is None:
            neighbour = _same_leader(other, place, matched, codes)
            who = (
                "the same leader" if neighbour is not None else "nobody" if reign.leader == NOBODY else "another leader"
            )
            spent.append(f"{reign.epoch} ({who})")
            code = neighbour
        if code is None:
            code = _UNMATCHED + len(names)
            names[code] = f"{_name(codes[other[place - 1].epoch], names)}+" if place else "+"
        codes[reign.epoch] = code
    return Renumbering(codes, names, tuple(spent))


def _same_leader(other: Sequence[Reign], place: int, matched: dict[int, int], codes: dict[int, int]) -> int | None:
    """The code of the epoch before, or of the next one that has a match, if the same leader goes on."""
    leader = other[place].leader
    if place and other[place - 1].leader == leader:
        return codes[other[place - 1].epoch]
    for later in other[place + 1 :]:
        if later.leader != leader:
            break
        if later.epoch in matched:
            return matched[later.epoch]
    return None


def _name(code: int, names: dict[int, str]) -> str:
    return names.get(code, str(code))


def _likeness(one: Reign, two: Reign) -> int:
    if one.values & two.values:
        return _BY_RECORDS
    if one.values and two.values:
        return 0
    return (_BY_LEADER - bool(one.values or two.values)) if one.leader == two.leader else 0


def _matches(reference: Sequence[Reign], other: Sequence[Reign]) -> dict[int, int]:
    """The best matching that keeps the order, as other epoch → reference epoch."""
    best = [[0] * (len(other) + 1) for _ in range(len(reference) + 1)]
    for i, one in reversed(list(enumerate(reference))):
        for j, two in reversed(list(enumerate(other))):
            alike = _likeness(one, two)
            best[i][j] = max(best[i + 1][j], best[i][j + 1], best[i + 1][j + 1] + alike if alike else 0)
    found: dict[int, int] = {}
    i = j = 0
    while i < len(reference) and j < len(other):
        alike = _likeness(reference[i], other[j])
        if alike and best[i][j] == best[i + 1][j + 1] + alike:
            found[other[j].epoch] = reference[i].epoch
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return found


def merged(cache: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """An epoch cache, renumbered, in which neighbours of the same number are one."""
    entries = list(cache)
    return tuple(entries[:1]) + tuple(two for one, two in pairwise(entries) if one[0] != two[0])
