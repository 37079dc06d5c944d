"""A set: what was added is in the last read, and what is in it somebody tried to add. Jepsen's ``checker/set``.

Operations: ``add`` an element; ``read``, answered with all elements. Only the last read that is ok counts. An element that it lacks
is lost if an ``add`` was ok before that read began; of what was added later it tells nothing (Jepsen's checker calls that lost). An
element that it has nobody added if no ``add`` had begun when it ended, or if each of them failed (Jepsen's takes both as possible).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tidemark.checkers.history.history import Op
from tidemark.checkers.objects.linearizability.operation import Ties, places
from tidemark.checkers.objects.values import Value, Values
from tidemark.checkers.objects.workloads.elements import in_order, intervals, listed
from tidemark.checkers.objects.workloads.halves import INVOKE, OK, counted, of_failed, partners
from tidemark.checkers.verdict.result import Result

NAME = "set"


def final_set(ops: Sequence[Op], *, ties: Ties = "concurrent") -> Result:
    """Judge a history of one set.

    Args:
        ops: its halves.
        ties: whether halves of one time are concurrent, or happened as they are listed.

    Raises:
        ValueError: a read answers with no list.
    """
    values = Values()
    at, other = places(ops, ties), partners(ops)
    begun: dict[int, int] = {}
    failed: set[int] = set()
    added: dict[int, int] = {}
    final: set[int] | None = None
    read_begun = read_ended = 0
    for index, op in enumerate(ops):
        if op.f == "add" and of_failed(ops, other, index):
            failed.add(values.number(op.value))
        elif op.f == "add" and op.type in (INVOKE, OK):
            (begun if op.type == INVOKE else added).setdefault(values.number(op.value), at[index])
        elif op.f == "read" and op.type == OK and op.value is not None:
            final = {values.number(element) for element in listed(op.value, "a read", index)}
            asked = other[index]
            read_begun, read_ended = at[index if asked is None else asked], at[index]
    if final is None:
        return Result(NAME, "unknown", f"{counted(len(added), 'element')} added", "the set was never read")
    ok = {one for one in final if one in begun and begun[one] < read_ended}
    refused = (final - ok) & failed
    unexpected = final - ok - refused
    lost = {one for one, place in added.items() if one not in final and place < read_begun}
    untold = added.keys() - final - lost
    recovered = ok - added.keys()

    def elements(numbers: Iterable[int]) -> list[Value]:
        return in_order(values.value(one) for one in numbers)

    evidence = {
        "attempt_count": len(begun.keys() | failed),
        "acknowledged_count": len(added),
        "ok_count": len(ok),
        "lost_count": len(lost),
        "recovered_count": len(recovered),
        "unexpected_count": len(unexpected),
        "failed_count": len(refused),
        "untold_count": len(untold),
        "ok": intervals(values.value(one) for one in ok),
        "lost": elements(lost),
        "unexpected": elements(unexpected),
        "failed": elements(refused),
        "untold": elements(untold),
        "recovered": intervals(values.value(one) for one in recovered),
    }
    found = [f"{len(lost)} of {counted(len(added), 'element')} added are not in the last read"] if lost else []
    found += [f"{counted(len(unexpected), 'element')} in it nobody had added"] if unexpected else []
    found += [f"{counted(len(refused), 'element')} in it whose add failed"] if refused else []
    if found:
        return Result(NAME, "invalid", "; ".join(found), None, evidence)
    had = counted(len(added) - len(untold), "element")
    if untold:
        because = f"{counted(len(untold), 'element')} added only when the last read had begun, and it lacks them"
        return Result(NAME, "unknown", f"the last read has the other {had} added", because, evidence)
    return Result(NAME, "valid", f"the last read has all {had} added", None, evidence)
