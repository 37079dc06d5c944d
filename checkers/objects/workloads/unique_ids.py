"""Ids that are given out once. Jepsen's ``checker/unique-ids``. Operation: ``generate``, answered with an id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tidemark.checkers.history.history import Op
from tidemark.checkers.objects.values import Values
from tidemark.checkers.objects.workloads.elements import in_order
from tidemark.checkers.objects.workloads.halves import INVOKE, OK, counted
from tidemark.checkers.verdict.result import Result

NAME = "unique-ids"
SHOWN = 48


def unique_ids(ops: Sequence[Op]) -> Result:
    """Judge a history of one generator."""
    values = Values()
    attempts = sum(op.f == "generate" and op.type == INVOKE for op in ops)
    given = Counter(values.number(op.value) for op in ops if op.f == "generate" and op.type == OK)
    twice = [(number, times) for number, times in given.items() if times > 1]
    twice.sort(key=lambda one: -one[1])
    ids = in_order(values.value(number) for number in given)
    evidence = {
        "attempted_count": attempts,
        "acknowledged_count": given.total(),
        "duplicated_count": len(twice),
        "duplicated": [[values.value(number), times] for number, times in twice[:SHOWN]],
        "range": [ids[0], ids[-1]] if ids else [None, None],
    }
    if twice:
        number, times = twice[0]
        message = (
            f"{counted(len(twice), 'id')} given out more than once, such as {values.value(number)!r}, {times} times"
        )
        return Result(NAME, "invalid", message, None, evidence)
    if not given:
        return Result(NAME, "unknown", "no id to judge", "no id was given out", evidence)
    return Result(NAME, "valid", f"{counted(given.total(), 'id')}, all different", None, evidence)
