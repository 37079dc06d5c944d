"""A set: what was added is in the last read, and what is in it somebody tried to add. Jepsen's ``checker/set``.

Operations: ``add`` an element; ``read``, answered with all elements. Only the last read that is ok counts, and an element that it
lacks is lost if its ``add`` was ok.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.checkers.history.history import Op
from tidemark.checkers.objects.values import Values
from tidemark.checkers.objects.workloads.elements import in_order, intervals, listed
from tidemark.checkers.objects.workloads.halves import INVOKE, OK, counted
from tidemark.checkers.verdict.result import Result

NAME = "set"


def final_set(ops: Sequence[Op]) -> Result:
    """Judge a history of one set.

    Raises:
        ValueError: a read answers with no list.
    """
    values = Values()
    attempts: set[int] = set()
    adds: set[int] = set()
    final: set[int] | None = None
    for index, op in enumerate(ops):
        if op.f == "add" and op.type == INVOKE:
            attempts.add(values.number(op.value))
        elif op.f == "add" and op.type == OK:
            adds.add(values.number(op.value))
        elif op.f == "read" and op.type == OK and op.value is not None:
            final = {values.number(element) for element in listed(op.value, "a read", index)}
    if final is None:
        return Result(NAME, "unknown", f"{counted(len(adds), 'element')} added", "the set was never read")
    ok, unexpected, lost = final & attempts, final - attempts, adds - final
    recovered = ok - adds
    evidence = {
        "attempt_count": len(attempts),
        "acknowledged_count": len(adds),
        "ok_count": len(ok),
        "lost_count": len(lost),
        "recovered_count": len(recovered),
        "unexpected_count": len(unexpected),
        "ok": intervals(values.value(one) for one in ok),
        "lost": in_order(values.value(one) for one in lost),
        "unexpected": in_order(values.value(one) for one in unexpected),
        "recovered": intervals(values.value(one) for one in recovered),
    }
    if not lost and not unexpected:
        return Result(NAME, "valid", f"the last read has all {counted(len(adds), 'element')} added", None, evidence)
    found = [f"{len(lost)} of {counted(len(adds), 'element')} added are not in the last read"] if lost else []
    found += [f"{counted(len(unexpected), 'element')} in it nobody added"] if unexpected else []
    return Result(NAME, "invalid", "; ".join(found), None, evidence)
