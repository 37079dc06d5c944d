"""What goes into a queue comes out of it, if it is drained at the end. Jepsen's ``checker/total-queue``.

Operations: ``enqueue`` an element; ``dequeue``, answered with one; ``drain``, answered with a list, stands for as many dequeues.
What comes out more often than it went in is counted, and is no error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tidemark.checkers.history.history import Op
from tidemark.checkers.objects.values import Value, Values
from tidemark.checkers.objects.workloads.elements import in_order, listed
from tidemark.checkers.objects.workloads.halves import INFO, INVOKE, OK, counted
from tidemark.checkers.verdict.result import Result

NAME = "total-queue"


def total_queue(ops: Sequence[Op]) -> Result:
    """Judge a history of one queue.

    Raises:
        ValueError: nobody knows how a drain ended, or it answers with no list.
    """
    values = Values()
    attempts: Counter[int] = Counter()
    enqueues: Counter[int] = Counter()
    dequeues: Counter[int] = Counter()
    for index, op in enumerate(ops):
        if op.f == "enqueue" and op.type in (INVOKE, OK):
            (attempts if op.type == INVOKE else enqueues)[values.number(op.value)] += 1
        elif op.f == "dequeue" and op.type == OK:
            dequeues[values.number(op.value)] += 1
        elif op.f == "drain" and op.type == OK:
            dequeues.update(values.number(element) for element in listed(op.value, "a drain", index))
        elif op.f == "drain" and op.type == INFO:
            raise ValueError(f"operation {index}: nobody knows what a drain took that did not end with an answer")
    ok = dequeues & attempts
    unexpected = Counter({element: times for element, times in dequeues.items() if element not in attempts})
    duplicated = (dequeues - attempts) - unexpected
    lost = enqueues - dequeues
    recovered = ok - enqueues

    def elements(counts: Counter[int]) -> list[Value]:
        return in_order(values.value(element) for element in counts.elements())

    evidence = {
        "attempt_count": attempts.total(),
        "acknowledged_count": enqueues.total(),
        "ok_count": ok.total(),
        "unexpected_count": unexpected.total(),
        "duplicated_count": duplicated.total(),
        "lost_count": lost.total(),
        "recovered_count": recovered.total(),
        "lost": elements(lost),
        "unexpected": elements(unexpected),
        "duplicated": elements(duplicated),
        "recovered": elements(recovered),
    }
    if not enqueues and not dequeues:
        because = "nothing was enqueued, and nothing came out"
        return Result(NAME, "unknown", "no element to judge", because, evidence)
    if not lost and not unexpected:
        message = f"all of {counted(enqueues.total(), 'element')} enqueued came out"
        return Result(NAME, "valid", message, None, evidence)
    found = [f"{lost.total()} of {counted(enqueues.total(), 'element')} enqueued never came out"] if lost else []
    found += [f"{counted(unexpected.total(), 'element')} came out that nobody enqueued"] if unexpected else []
    return Result(NAME, "invalid", "; ".join(found), None, evidence)
