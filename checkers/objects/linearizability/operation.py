"""Operations with a beginning and an end, from a history's halves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from typing import Any, Literal, NamedTuple

from tidemark.checkers.history.history import Op

INVOKE, OK, FAIL, INFO = "invoke", "ok", "fail", "info"

Ties = Literal["concurrent", "listed"]
"""How halves of one time are taken: as concurrent (intervals are closed, as Porcupine's), or in the order in which they are listed
(Jepsen's index, which knows better than its clock).
"""


class Operation(NamedTuple):
    """One operation: what was asked, what came back, and between which two moments it took effect.

    Attributes:
        process: the client.
        f: what was asked, such as ``"read"``.
        asked: the invocation's value.
        answered: the completion's value, `None` without one that is ok.
        outcome: ``"ok"``, ``"fail"`` (it did not happen) or ``"info"`` (it happened at any time from `call` on, or never).
        call: when it began, as a place in the order of all halves.
        end: when it ended, likewise; `None` if it never did, so that everything later is concurrent.
        invoked: index of the invocation in the history, from 0.
        completed: index of the completion, or `None`.
        time: of the completion in µs, else that of the invocation.
    """

    process: Any
    f: str
    asked: Any
    answered: Any
    outcome: str
    call: int
    end: int | None
    invoked: int
    completed: int | None
    time: int

    def to_json(self) -> dict[str, Any]:
        """The operation as plain JSON data."""
        value = self.asked if self.answered is None else self.answered
        told = {"process": self.process, "f": self.f, "value": value, "type": self.outcome, "invoked": self.invoked}
        return told | {"completed": self.completed, "time": self.time}


def operations(ops: Iterable[Op], ties: Ties = "concurrent") -> list[Operation]:
    """The operations of a history, in the order of their invocations.

    What nobody invoked and `info` tells (Jepsen's nemesis) is no operation. One that is never completed is `info`. After `info`, a
    process may go on.

    Raises:
        ValueError: a completion without an invocation, or of another operation; two open operations of one process; times that go
            back; a type that there is not. The sentence has the half's index, from 0.
    """
    halves = list(ops)
    order = places(halves, ties)
    clients = {half.process for half in halves if half.type == INVOKE}
    found: dict[int, Operation] = {}
    open_: dict[Any, int] = {}
    for index, half in enumerate(halves):
        if half.type == INVOKE:
            if half.process in open_:
                before = open_[half.process]
                raise ValueError(
                    f"operation {index}: process {half.process} invokes {half.f} while its {halves[before].f} "
                    f"(operation {before}) is open"
                )
            open_[half.process] = index
            found[index] = Operation(
                half.process, half.f, half.value, None, INFO, order[index], None, index, None, half.time
            )
        elif half.type not in (OK, FAIL, INFO):
            raise ValueError(f"operation {index}: the type is invoke, ok, fail or info, and not {half.type!r}")
        elif half.process in open_:
            begun = open_.pop(half.process)
            found[begun] = _completed(found[begun], half, index, order[index])
        elif half.type != INFO or half.process in clients:
            raise ValueError(f"operation {index}: {half.type} of process {half.process}, which has no operation open")
    return list(found.values())


def _completed(begun: Operation, half: Op, index: int, place: int) -> Operation:
    if half.f != begun.f:
        raise ValueError(
            f"operation {index}: process {half.process} completes {half.f}, and invoked {begun.f} (operation {begun.invoked})"
        )
    answered = half.value if half.type == OK else None
    end = None if half.type == INFO else place
    return begun._replace(answered=answered, outcome=half.type, end=end, completed=index, time=half.time)


def places(halves: Sequence[Op], ties: Ties) -> list[int]:
    """The place of each half in the order of events: what ended before another began has a lower one.

    Raises:
        ValueError: times go back, and no order is listed.
    """
    times = [half.time for half in halves]
    for index, (before, time) in enumerate(pairwise(times), start=1):
        if time < before and ties == "concurrent":
            raise ValueError(
                f"operation {index}: its time, {time}, is before that of the operation before it, {before}"
            )
    found = list(range(len(halves)))
    if ties == "listed" or len(set(times)) == 1:
        return found
    order: list[int] = []
    for _, group in groupby(found, key=times.__getitem__):
        order += sorted(group, key=lambda index: halves[index].type != INVOKE)
    for place, index in enumerate(order):
        found[index] = place
    return found
