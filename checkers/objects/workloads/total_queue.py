"""What goes into a queue comes out of it, if it is drained at the end. Jepsen's ``checker/total-queue``.

Operations: ``enqueue`` an element; ``dequeue``, answered with one; ``drain``, answered with a list, stands for as many dequeues.
What comes out more often than it went in is counted; where nobody may get again what somebody took (`once`), it is an error. Where

| what | here | in Jepsen's |
|---|---|---|
| enqueued, ok only when the last drain had begun (without a drain, the last dequeue) | nobody can tell | lost |
| never came out, and a dequeue or drain nobody knows the end of may have taken it | nobody can tell | lost, or no verdict |
| came out before its first enqueue began | an error | counted as ok |
| came out, and each of its enqueues failed | an error | counted as recovered |

A dequeue that failed counts as one that found nothing, unless it has an ``error`` without the word ``empty`` or ``exhausted``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from tidemark.checkers.history.history import Op
from tidemark.checkers.objects.linearizability.operation import Ties, places
from tidemark.checkers.objects.values import Value, Values
from tidemark.checkers.objects.workloads.elements import in_order, listed
from tidemark.checkers.objects.workloads.halves import FAIL, INVOKE, OK, counted, of_failed, partners
from tidemark.checkers.verdict.result import Result

NAME = "total-queue"
_NOTHING_THERE = ("empty", "exhausted")


@dataclass
class _Seen:
    """What the history tells of the elements, by their numbers; places are those in the order of events.

    Attributes:
        attempts: how often somebody began to enqueue it, whatever came of that.
        begun: where the first enqueue that did not fail began.
        acknowledged: where its enqueues were ok.
        taken: what came out, and where that had ended.
        drains: where each drain that was ok began and ended.
        dequeues: likewise each dequeue that took something.
        nothing_there: likewise each dequeue that found nothing.
        unsure_dequeues: where each dequeue began of which nobody knows what it took.
        unsure_drains: likewise each drain.
    """

    attempts: Counter[int] = field(default_factory=Counter)
    begun: dict[int, int] = field(default_factory=dict)
    acknowledged: list[tuple[int, int]] = field(default_factory=list)
    taken: list[tuple[int, int]] = field(default_factory=list)
    drains: list[tuple[int, int]] = field(default_factory=list)
    dequeues: list[tuple[int, int]] = field(default_factory=list)
    nothing_there: list[tuple[int, int]] = field(default_factory=list)
    unsure_dequeues: list[int] = field(default_factory=list)
    unsure_drains: list[int] = field(default_factory=list)

    def last_look(self) -> tuple[int, int]:
        """Where the last operation began, and ended, after which the queue should be empty; (-1, -1) if there is none."""
        return max([*(self.drains or self.dequeues), *self.nothing_there], default=(-1, -1))


def total_queue(ops: Sequence[Op], *, once: bool = False, drained: bool = True, ties: Ties = "concurrent") -> Result:
    """Judge a history of one queue.

    Args:
        ops: its halves.
        once: whether an element that comes out more often than it went in is an error.
        drained: whether the last dequeue found it empty; if not, what never came out may be in it.
        ties: whether halves of one time are concurrent, or happened as they are listed.

    Raises:
        ValueError: a drain answers with no list.
    """
    values = Values()
    return _result(_seen(ops, values, ties), values, once=once, emptied=drained)


def _seen(ops: Sequence[Op], values: Values, ties: Ties) -> _Seen:
    seen = _Seen()
    at, other = places(ops, ties), partners(ops)
    for index, op in enumerate(ops):
        half = other[index]
        since = at[index if half is None else half]
        if op.f == "enqueue" and op.type == INVOKE:
            number = values.number(op.value)
            seen.attempts[number] += 1
            if not of_failed(ops, other, index):
                seen.begun[number] = min(at[index], seen.begun.get(number, at[index]))
        elif op.f == "enqueue" and op.type == OK:
            seen.acknowledged.append((values.number(op.value), at[index]))
        elif op.f in ("dequeue", "drain") and op.type == INVOKE:
            if half is None or ops[half].type not in (OK, FAIL):
                (seen.unsure_dequeues if op.f == "dequeue" else seen.unsure_drains).append(at[index])
        elif op.f == "dequeue" and op.type == OK:
            seen.dequeues.append((since, at[index]))
            seen.taken.append((values.number(op.value), at[index]))
        elif op.f == "dequeue" and op.type == FAIL:
            if op.error is None or any(word in op.error for word in _NOTHING_THERE):
                seen.nothing_there.append((since, at[index]))
        elif op.f == "drain" and op.type == OK:
            seen.drains.append((since, at[index]))
            seen.taken += [(values.number(element), at[index]) for element in listed(op.value, "a drain", index)]
    return seen


def _result(seen: _Seen, values: Values, *, once: bool, emptied: bool) -> Result:
    enqueues = Counter(element for element, _ in seen.acknowledged)
    out = Counter(element for element, _ in seen.taken)
    wrong = Counter(element for element, place in seen.taken if seen.begun.get(element, place) >= place)
    early = Counter({element: times for element, times in wrong.items() if element in seen.begun})
    unexpected = Counter({element: times for element, times in wrong.items() if element not in seen.attempts})
    failed = wrong - early - unexpected
    looked, looked_until = seen.last_look() if emptied else (-1, -1)
    missing = Counter(element for element, place in seen.acknowledged if place < looked) - out
    late = (enqueues - out) - missing
    drained = any(place < looked_until for place in seen.unsure_drains)
    takers = sum(place < looked_until for place in seen.unsure_dequeues)
    lost = missing.total() if not drained else 0
    certainly = max(0, lost - takers)
    ok = (out - wrong) & seen.attempts

    def elements(counts: Counter[int]) -> list[Value]:
        return in_order(values.value(element) for element in counts.elements())

    counts = {
        "unexpected": unexpected,
        "early": early,
        "failed": failed,
        "duplicated": (out - wrong) - seen.attempts,
        "lost": missing if certainly else Counter[int](),
        "untold": late if certainly else late + missing,
        "recovered": ok - enqueues,
    }
    evidence = {
        "attempt_count": seen.attempts.total(),
        "acknowledged_count": enqueues.total(),
        "ok_count": ok.total(),
        **{f"{name}_count": one.total() for name, one in counts.items()},
        "certainly_lost_count": certainly,
        **{name: elements(one) for name, one in counts.items()},
    }
    found = []
    if certainly:
        perhaps = f" (a dequeue of unknown end may have taken {lost - certainly} of them)" if certainly < lost else ""
        found.append(f"{lost} of {counted(enqueues.total(), 'element')} enqueued never came out{perhaps}")
    for name, words in (
        (unexpected, "that nobody enqueued"),
        (early, "before anybody had begun to enqueue it"),
        (failed, "though its enqueue failed"),
        (counts["duplicated"] if once else Counter[int](), "more often than it was put in"),
    ):
        found += [f"{counted(name.total(), 'element')} came out {words}"] if name else []
    if found:
        return Result(NAME, "invalid", "; ".join(found), None, evidence)
    if not enqueues and not out:
        because = "nothing was enqueued, and nothing came out"
        return Result(NAME, "unknown", "no element to judge", because, evidence)
    because = _unknown(seen, missing.total(), late.total(), drained=drained, emptied=emptied)
    every, left = counted(enqueues.total(), "element"), (missing + late).total()
    message = f"{f'{enqueues.total() - left} of' if left else 'all of'} {every} enqueued came out"
    return Result(NAME, "unknown" if because else "valid", message, because or None, evidence)


def _unknown(seen: _Seen, missing: int, late: int, *, drained: bool, emptied: bool) -> str:
    """What nobody can tell of."""
    who = "a drain" if drained else "a dequeue"
    reasons = (
        [f"{who} of unknown end may have taken {counted(missing, 'element')} that never came out"] if missing else []
    )
    if late and not emptied:
        reasons.append(f"{counted(late, 'element')} never came out of a queue that was not emptied")
    elif late:
        when = "when the last drain had begun" if seen.drains else "after the last dequeue had begun"
        reasons.append(f"{counted(late, 'element')} enqueued only {when} and never came out")
    return "; ".join(reasons)
