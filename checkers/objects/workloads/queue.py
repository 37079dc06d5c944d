"""What comes out of a queue went in before. Jepsen's ``checker/queue`` with Knossos's queues.

Operations: ``enqueue`` an element, taken to succeed when it begins unless it failed (as Jepsen's words have it; its code takes what
failed, too); ``dequeue``, taken to happen when it ends ok. A queue without order gives any element that is in it, one with order
the first; enqueues that overlap may then come out in another order than they began, which this checker, like Jepsen's, takes for an
error.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from tidemark.checkers.history.history import Op
from tidemark.checkers.objects.linearizability.operation import Ties, places
from tidemark.checkers.objects.values import Values
from tidemark.checkers.objects.workloads.halves import INVOKE, OK, counted, of_failed, partners
from tidemark.checkers.verdict.result import Result

NAME = "queue"


def queue(ops: Sequence[Op], *, ordered: bool = False, ties: Ties = "concurrent") -> Result:
    """Judge a history of one queue.

    Args:
        ops: its halves.
        ordered: whether it is first in, first out.
        ties: whether halves of one time are concurrent, or happened as they are listed.
    """
    values = Values()
    at, other = places(ops, ties), partners(ops)
    pending: deque[int] = deque()
    count: dict[int, int] = {}
    size = taken = 0
    for index in sorted(range(len(ops)), key=at.__getitem__):
        op = ops[index]
        element = values.number(op.value) if op.f in ("enqueue", "dequeue") else 0
        if op.f == "enqueue" and op.type == INVOKE and not of_failed(ops, other, index):
            pending.append(element)
            count[element] = count.get(element, 0) + 1
            size += 1
        elif op.f == "dequeue" and op.type == OK:
            there = bool(pending) and pending[0] == element if ordered else count.get(element, 0) > 0
            if not there:
                message = (
                    f"dequeue by {op.process} returned {op.value!r}, which was not {'first' if ordered else 'in it'}"
                )
                return Result(NAME, "invalid", message, None, {"operation": index, "element": op.value})
            if ordered:
                pending.popleft()
            count[element] -= 1
            size -= 1
            taken += 1
    left = f"{counted(size, 'element')} left"
    if not taken:
        return Result(NAME, "unknown", left, "nothing came out", {"left": size})
    return Result(NAME, "valid", f"everything that came out went in; {left}", None, {"left": size})
