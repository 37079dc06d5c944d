"""A set that is read all the time: each element is there from some moment on, for good. Jepsen's ``checker/set-full``.

Operations: ``add`` an element; ``read``, answered with all elements. An element is *known* since its ``add``, or the first read
that has it, was ok. Reads are in the order in which they began:

| outcome | of an element |
|---|---|
| stable | the last read that has it is later than the last that lacks it |
| lost | it is known, and the last read that lacks it began after that, and later than the last that has it |
| never-read | neither |

A stable element is *stale* if its latency is above 0. Latencies are whole milliseconds from when it was known to the beginning of
the last read that lacks it (stable), or has it (lost).

An element that was read, and that nobody tried to add before that read had ended, is *unexpected*, and makes the set invalid;
Jepsen's checker says nothing of it (its ``checker/set`` does). So does one whose adds all *failed*; neither of Jepsen's tells that.

Where Jepsen's code does not do what its words say: it means to report elements that one read has twice, and compares the wrong way
round (``(< v 1)``, snapshot of July 2026), so it never does. Here they are reported, and make the set invalid.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import floor
from typing import NamedTuple

from tidemark.checkers.history.history import Op
from tidemark.checkers.objects.linearizability.operation import Ties, places
from tidemark.checkers.objects.values import Value, Values
from tidemark.checkers.objects.workloads.elements import by_size, in_order, listed
from tidemark.checkers.objects.workloads.halves import INVOKE, OK, clients, counted, of_failed, partners
from tidemark.checkers.verdict.result import Result, Valid
from tidemark.checkers.verdict.verdict import Json

NAME = "set-full"
POINTS = (0, 0.5, 0.95, 0.99, 1)
WORST = 8


class Seen(NamedTuple):
    """What the history tells of one element: indices of halves.

    Attributes:
        known: the half that made it known, or `None`.
        present: invocation of the last read that has it, or -1.
        absent: invocation of the last read that lacks it, or -1.
    """

    known: int | None
    present: int
    absent: int


class Outcome(NamedTuple):
    """What became of one element; latencies in ms."""

    element: Value
    outcome: str
    stable_latency: int | None
    lost_latency: int | None
    seen: Seen


def set_full(ops: Sequence[Op], *, linearizable: bool = False, ties: Ties = "concurrent") -> Result:
    """Judge a history of one set.

    Args:
        ops: its halves.
        linearizable: stale elements make it invalid.
        ties: whether halves of one time are concurrent, or happened as they are listed.

    Raises:
        ValueError: a read answers with no list.
    """
    halves = clients(ops)
    values = Values()
    at = places(halves, ties)
    seen, duplicated, unexpected, failed = _seen(halves, values)
    order = sorted(seen, key=lambda number: by_size(values.value(number)))
    outcomes = [_outcome(values.value(number), seen[number], halves, at) for number in order]
    twice = [[values.value(number), times] for number, times in sorted(duplicated.items())]
    nobodys = in_order(values.value(number) for number in unexpected - failed)
    refused = in_order(values.value(number) for number in unexpected & failed)
    return _result(outcomes, twice, nobodys, refused, halves, linearizable=linearizable)


def _seen(halves: Sequence[Op], values: Values) -> tuple[dict[int, Seen], dict[int, int], set[int], set[int]]:
    """Each element that somebody tried to add; those that one read has several times, with their highest number; those that were
    read before anybody tried to add them, but for adds that failed; and those of which an add failed.
    """
    other = partners(halves)
    known: dict[int, int | None] = {}
    present: dict[int, int] = {}
    absent: dict[int, int] = {}
    duplicated: dict[int, int] = {}
    tried: dict[int, int] = {}
    early: dict[int, int] = {}
    failed: set[int] = set()
    for index, op in enumerate(halves):
        if op.f == "add":
            number = values.number(op.value)
            if of_failed(halves, other, index):
                failed.add(number)
            else:
                tried.setdefault(number, op.time)
            if op.type == INVOKE:
                known[number], present[number], absent[number] = None, -1, -1
            elif op.type == OK and number in known and known[number] is None:
                known[number] = index
        elif op.f == "read" and op.type == OK:
            begun = other[index]
            if begun is None:
                raise ValueError(f"operation {index}: a read of process {op.process} completes, and was not invoked")
            elements = [values.number(element) for element in listed(op.value, "a read", index)]
            there = set(elements)
            if len(there) < len(elements):
                for number, times in Counter(elements).items():
                    if times > 1:
                        duplicated[number] = max(times, duplicated.get(number, 0))
            for number in there - tried.keys():
                early.setdefault(number, op.time)
            for number in there & known.keys():
                if known[number] is None:
                    known[number] = index
                present[number] = max(present[number], begun)
            for number in known.keys() - there:
                absent[number] = max(absent[number], begun)
    unexpected = {number for number, time in early.items() if number not in tried or time < tried[number]}
    seen = {number: Seen(known[number], present[number], absent[number]) for number in known}
    return seen, duplicated, unexpected, failed


def _outcome(element: Value, seen: Seen, halves: Sequence[Op], at: Sequence[int]) -> Outcome:
    known, present, absent = seen
    if present >= 0 and absent < present:
        return Outcome(element, "stable", _latency(absent, known, halves), None, seen)
    if known is not None and present < absent and at[known] < at[absent]:
        return Outcome(element, "lost", None, _latency(present, known, halves), seen)
    return Outcome(element, "never-read", None, None, seen)


def _latency(last: int, known: int | None, halves: Sequence[Op]) -> int:
    """From when an element was known to just after the invocation of the last read in question, in ms."""
    if last < 0 or known is None:
        return 0
    nanoseconds = 1000 * halves[last].time + 1 - 1000 * halves[known].time
    return max(0, nanoseconds) // 1_000_000


def quantiles(latencies: Iterable[int]) -> dict[str, int]:
    """The latencies at `POINTS`; Jepsen's ``frequency-distribution``."""
    ordered = sorted(latencies)
    if not ordered:
        return {}
    last = len(ordered) - 1
    return {str(point): ordered[min(last, floor(len(ordered) * point))] for point in POINTS}


def _result(
    outcomes: Sequence[Outcome],
    duplicated: list[list[Json]],
    unexpected: list[Value],
    refused: list[Value],
    halves: Sequence[Op],
    *,
    linearizable: bool,
) -> Result:
    stable = [one for one in outcomes if one.outcome == "stable"]
    lost = [one for one in outcomes if one.outcome == "lost"]
    never = [one for one in outcomes if one.outcome == "never-read"]
    stale = [one for one in stable if one.stable_latency]
    worst = sorted(stale, key=lambda one: one.stable_latency or 0, reverse=True)[:WORST]
    evidence: dict[str, Json] = {
        "attempt_count": len(outcomes),
        "stable_count": len(stable),
        "lost_count": len(lost),
        "lost": [one.element for one in lost],
        "never_read_count": len(never),
        "never_read": [one.element for one in never],
        "stale_count": len(stale),
        "stale": [one.element for one in stale],
        "worst_stale": [_story(one, halves) for one in worst],
        "duplicated_count": len(duplicated),
        "duplicated": duplicated,
        "unexpected_count": len(unexpected),
        "unexpected": unexpected,
        "failed_count": len(refused),
        "failed": refused,
        "stable_latencies_ms": quantiles(one.stable_latency for one in stable if one.stable_latency is not None),
        "lost_latencies_ms": quantiles(one.lost_latency for one in lost if one.lost_latency is not None),
    }
    found = [f"{counted(len(lost), 'element')} lost"] if lost else []
    found += [f"{counted(len(duplicated), 'element')} in one read several times"] if duplicated else []
    found += [f"{counted(len(unexpected), 'element')} read that nobody had added"] if unexpected else []
    found += [f"{counted(len(refused), 'element')} read whose add failed"] if refused else []
    found += [f"{counted(len(stale), 'element')} stale"] if stale else []
    message = "; ".join([*found, f"{len(stable)} of {counted(len(outcomes), 'element')} stable"])
    wrong = lost or duplicated or unexpected or refused or (linearizable and stale)
    valid: Valid = "invalid" if wrong else "valid" if stable else "unknown"
    return Result(NAME, valid, message, "no element was ever stable" if valid == "unknown" else None, evidence)


def _story(one: Outcome, halves: Sequence[Op]) -> dict[str, Json]:
    known, _, absent = one.seen
    return {
        "element": one.element,
        "stable_latency_ms": one.stable_latency,
        "known": None if known is None else {"process": halves[known].process, "time": halves[known].time},
        "last_absent": None if absent < 0 else {"process": halves[absent].process, "time": halves[absent].time},
    }
