"""One moment of a run, in a script's words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that was done, or that came about.

    Attributes:
        time: in µs.
        does: the commands that do it; empty of what came about.
        shows: the condition that holds when it has come about; empty of what was done.
        words: a sentence.
        fetches: whether a follower has fetched something.
        node: of which broker it is; 0 of all others.
        hears: the broker that heard of a leader epoch, else 0. epoch: the one that was heard, or decided; else −1.
        pairs: (follower, leader) between which messages had to pass for it.
        elects: whether the controller chose a leader.
        cuts: links that it cuts, as both nodes of each. joins: those that pass again.
        key: moments of one key belong together, such as a pause and its end.
    """

    time: int
    does: tuple[str, ...] = ()
    shows: str = ""
    words: str = ""
    node: int = 0
    fetches: bool = False
    hears: int = 0
    epoch: int = -1
    pairs: frozenset[tuple[int, int]] = frozenset()
    elects: bool = False
    cuts: frozenset[tuple[int, int]] = frozenset()
    joins: frozenset[tuple[int, int]] = frozenset()
    key: object = None


def coalesced(moments: Iterable[Moment]) -> Iterator[Moment]:
    """What a broker shows for no time at all is left out."""
    waiting: list[Moment] = []
    for moment in moments:
        if waiting and (moment.does or moment.time != waiting[0].time):
            yield from waiting
            waiting = []
        if moment.does:
            yield moment
            continue
        place = next((i for i, one in enumerate(waiting) if _subject(one) == _subject(moment)), None)
        if place is not None and _subject(moment):
            waiting.pop(place)
        waiting.append(moment)
    yield from waiting


def _subject(moment: Moment) -> str:
    """Whose state of what kind it shows; a later one of the same moment takes its place."""
    words = moment.shows.split()
    return " ".join(words[:3]) if words[1:2] == ["has"] else ""
