"""A counter that only grows: each read lies between what was surely added and what may have been. Jepsen's ``checker/counter``.

Operations: ``add`` a number from 0; ``read``. The least that a read may return is the sum of all adds that were ok when it began;
the most is the sum of all adds begun when it ended, without those that failed.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.checkers.history.history import Op
from tidemark.checkers.objects.workloads.halves import FAIL, INVOKE, OK, counted, partners
from tidemark.checkers.verdict.result import Result

NAME = "counter"
SHOWN = 100


def counter(ops: Sequence[Op]) -> Result:
    """Judge a history of one counter.

    Raises:
        ValueError: what is added or read is no integer, or below 0.
    """
    other = partners(ops)
    lower = upper = 0
    pending: dict[str, tuple[int, int]] = {}
    reads: list[tuple[int, int, int]] = []
    for index, op in enumerate(ops):
        end = other[index]
        if op.f == "read" and op.type == INVOKE:
            if end is not None and ops[end].type == OK:
                pending[op.process] = (lower, _integer(ops[end], end))
        elif op.f == "read" and op.type == OK:
            if op.process in pending:
                reads.append((*pending.pop(op.process), upper))
        elif op.f == "add" and op.type == INVOKE:
            amount = _integer(op, index)
            if amount < 0:
                raise ValueError(f"operation {index}: this counter only grows, and {amount} is added to it")
            if end is None or ops[end].type != FAIL:
                upper += amount
        elif op.f == "add" and op.type == OK:
            lower += _integer(op, index)
    errors = [(low, read, high) for low, read, high in reads if not low <= read <= high]
    evidence = {
        "reads": len(reads),
        "error_count": len(errors),
        "errors": [{"least": low, "read": read, "most": high} for low, read, high in errors[:SHOWN]],
        "lower": lower,
        "upper": upper,
    }
    if errors:
        low, read, high = errors[0]
        rest = f"; so are {len(errors) - 1} more reads" if len(errors) > 1 else ""
        message = f"a read returned {read}, and the counter was from {low} to {high}: out of bounds{rest}"
        return Result(NAME, "invalid", message, None, evidence)
    if not reads:
        return Result(NAME, "unknown", "no read to judge", "no read succeeded", evidence)
    return Result(NAME, "valid", f"{counted(len(reads), 'read')} within bounds", None, evidence)


def _integer(op: Op, index: int) -> int:
    if type(op.value) is not int:
        raise ValueError(f"operation {index}: {op.f} of a counter has an integer, and not {op.value!r}")
    return op.value
