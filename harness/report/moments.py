"""Moments of a run, each worth a sentence, and the most telling of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

CLIENTS = -1
CONTROLLER = 0
MOST_MOMENTS = 18
"""So many columns fit a page; the least telling moments go first."""
SAID_BEFORE = 3
"""The rank of a moment that says nothing new: the same question again."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Something worth a sentence.

    Attributes:
        time: µs. node: a broker, `CONTROLLER` or `CLIENTS`. kind: the trace event's, or one of ours.
        rank: 0 is the story itself, 1 and 2 are context, `SAID_BEFORE` is told of nobody.
        number: counts from 1. decided: a fault strikes without which it would not have come to this.
        terms: kinds of elections and of faults that it names.
    """

    time: int
    node: int
    kind: str
    sentence: str
    rank: int = 0
    number: int = 0
    decided: bool = False
    terms: tuple[str, ...] = ()


def merged(moments: list[Moment]) -> list[Moment]:
    """One moment for everything that one node did in the same µs."""
    merged: dict[tuple[int, int], Moment] = {}
    for moment in moments:
        place = (moment.time, moment.node)
        before = merged.get(place)
        if before is None:
            merged[place] = moment
        elif moment.sentence not in before.sentence:
            told = min(before, moment, key=lambda one: one.rank)
            words = f"{before.sentence} {moment.sentence}"
            decided, terms = before.decided or moment.decided, (*before.terms, *moment.terms)
            merged[place] = replace(told, sentence=words, decided=decided, terms=terms)
    return list(merged.values())


def most_telling(found: list[Moment], around: int | None = None) -> list[Moment]:
    """At most `MOST_MOMENTS`, by rank and then by how near they are to a moment of the story itself, or to `around`, µs."""
    moments = [moment for moment in merged(found) if moment.rank < SAID_BEFORE]
    story = [moment.time for moment in moments if moment.rank == 0 and not moment.decided]
    anchors = story or [moments[-1].time if moments else 0]
    anchors = anchors if around is None else [around]
    ranked = sorted(moments, key=lambda m: (m.rank, min(abs(m.time - anchor) for anchor in anchors)))
    return sorted(ranked[:MOST_MOMENTS], key=lambda moment: moment.time)
