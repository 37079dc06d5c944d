"""Where two runs of the same plan part: the first thing of consequence that one of the nodes does otherwise.

Two variants send other messages, so times, batches and high watermarks differ a little from the start. What counts is what a node
*does*: elections and what is heard of them, cuts, starts and stops, changes of the ISR, and what becomes of the record in question.
These are compared node by node, in their order and without their times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, Final

from tidemark.checkers.history.history import History
from tidemark.checkers.history.trace_events import Append
from tidemark.harness.report.moments import Moment, merged
from tidemark.harness.report.why_section import Deed, Parting

_Key = tuple[Any, ...]

_WHAT: Final[Mapping[str, Callable[..., _Key]]] = {
    "lead": lambda epoch, *_: (epoch,),
    "follow": lambda epoch, leader, *_: (epoch, leader),
    "elect": lambda leader, epoch, *_: (leader, epoch),
    "truncate": lambda to, *_: (to,),
    "removed": lambda *_: (),
    "fatal": lambda *_: (),
    "stop": lambda how: (how,),
    "start": lambda *_: (),
    "isr-change": lambda isr, *_: tuple(isr),
    "out-of-order": lambda *_: (),
}
"""Event → what of its fields must be the same."""
ABOUT_US: Final = 20_000
"""What a node does so near to a step is done at about the same time."""
_OF_THE_RECORD: Final = frozenset({"append", "hw", "ack", "recovered", "log-start"})
"""Moments of a story that count where they are about the record itself."""


def parting_of(
    failing: tuple[History, Sequence[Moment]], repaired: tuple[History, Sequence[Moment]], partition: str
) -> Parting | None:
    """The first thing that a node does otherwise; None if all do the same.

    Args:
        failing: a run's history, and all moments of its story.
        repaired: the same of the other run.
        partition: the one in question.
    """
    one, other = _deeds(*failing, partition), _deeds(*repaired, partition)
    partings = [
        Parting(node, _first(mine), _first(theirs))
        for node, what in sorted({*one, *other})
        for mine, theirs in [_first_difference(one.get((node, what), []), other.get((node, what), []))]
        if mine is not None or theirs is not None
    ]
    first = min(partings, key=lambda parting: (parting.time, parting.node <= 0, parting.node), default=None)
    return None if first is None else replace(first, instead=_instead(first, repaired[1]))


def _instead(parting: Parting, moments: Sequence[Moment]) -> str:
    """What the node does in the repaired run when it does something else in the failing one."""
    if parting.failing is None:
        return ""
    at = parting.failing.time
    near = [
        moment for moment in merged(list(moments)) if moment.node == parting.node and abs(moment.time - at) <= ABOUT_US
    ]
    near.sort(key=lambda moment: abs(moment.time - at))
    return " ".join(moment.sentence for moment in sorted(near[:2], key=lambda moment: moment.time))


def _first(deed: tuple[_Key, Deed] | None) -> Deed | None:
    return None if deed is None else deed[1]


def _first_difference(
    one: Sequence[tuple[_Key, Deed]], other: Sequence[tuple[_Key, Deed]]
) -> tuple[tuple[_Key, Deed] | None, tuple[_Key, Deed] | None]:
    for mine, theirs in zip_longest(one, other):
        if mine is None or theirs is None or mine[0] != theirs[0]:
            return mine, theirs
    return None, None


def _lineage(history: History, partition: str) -> Iterator[tuple[int, int, _Key, str]]:
    """Where the leader epoch of what a node appends changes."""
    newest: dict[int, int] = {}
    for append in Append.among(history.trace, partition):
        node, epoch = append.node, append.epoch
        if newest.get(node) != epoch:
            newest[node] = epoch
            words = f"Broker {node} appends records of leader epoch {epoch}, from offset {append.base_offset} on."
            yield append.time, node, ("epoch", epoch), words


def _deeds(
    history: History, moments: Sequence[Moment], partition: str
) -> dict[tuple[int, str], list[tuple[_Key, Deed]]]:
    """What each node did, in order; the epochs of what it appends apart."""
    told = {(moment.time, moment.node, moment.kind): moment.sentence for moment in moments}
    found: list[tuple[int, int, _Key, str]] = []
    for time, node, event, of, *fields in history.trace:
        if of in {partition, ""} and event in _WHAT:
            sentence = told.get((time, node, event))
            if sentence is not None:
                found.append((time, node, (event, *_WHAT[event](*fields)), sentence))
    found += [
        (moment.time, moment.node, (moment.kind,), moment.sentence)
        for moment in moments
        if moment.kind in _OF_THE_RECORD and moment.rank == 0
    ]
    deeds: dict[tuple[int, str], list[tuple[_Key, Deed]]] = {}
    for time, node, key, sentence in sorted([*found, *_lineage(history, partition)], key=lambda one: one[0]):
        deeds.setdefault((node, key[0] if key[0] == "epoch" else ""), []).append((key, Deed(time, sentence)))
    return deeds
