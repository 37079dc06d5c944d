"""Elements of a queue of which something is wrong, and what became of them: `total-queue` counts, and people want to see one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tidemark.checkers.history.history import Op
from tidemark.checkers.objects.values import Value
from tidemark.checkers.objects.workloads.halves import FAIL, OK
from tidemark.checkers.verdict.verdict import Json, seconds

WRONG = ("lost", "duplicated", "unexpected", "early", "failed")
"""What may be wrong of elements, as evidence of `total-queue` calls it; the gravest first."""


class ElementTold(NamedTuple):
    """An element, when it was plain that something is wrong, and what became of it, as a sentence."""

    element: Value
    time: int
    words: str


def elements_told(ops: Sequence[Op], evidence: Mapping[str, Json]) -> list[ElementTold]:
    """One of each kind of wrong that there is, the gravest first.

    >>> ops = [Op(1_000_000, "c1", "ok", "enqueue", 7), Op(2_000_000, "c2", "ok", "dequeue", 7)]
    >>> [one.words for one in elements_told(ops, {"duplicated": [7]})]
    ['Element 7, for one: enqueued by c1 at 1.000000 s; taken by c2 at 2.000000 s.']
    """
    return [_told(ops, evidence[wrong][0]) for wrong in WRONG if evidence.get(wrong)]


def _told(ops: Sequence[Op], element: Value) -> ElementTold:
    put = [op for op in ops if op.f == "enqueue" and op.type in (OK, FAIL) and op.value == element]
    taken = [
        op for op in ops if op.type == OK and (op.value == element if op.f == "dequeue" else _drained(op, element))
    ]
    told = f"enqueued {_by(put)}" if put else "enqueued by nobody that was told so"
    looked = taken or [op for op in ops if op.f in ("dequeue", "drain")] or put
    words = f"Element {element}, for one: {told}; {f'taken {_by(taken)}' if taken else 'never taken'}."
    return ElementTold(element, max(op.time for op in looked), words)


def _drained(op: Op, element: Value) -> bool:
    return op.f == "drain" and element in op.value


def _by(ops: Sequence[Op]) -> str:
    return ", ".join(f"by {op.process} at {seconds(op.time)}{', in vain' if op.type == FAIL else ''}" for op in ops)
