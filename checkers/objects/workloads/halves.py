"""Halves of operations: which are clients', and which belong together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tidemark.checkers.history.history import Op

INVOKE, OK, FAIL, INFO = "invoke", "ok", "fail", "info"


def clients(ops: Iterable[Op]) -> list[Op]:
    """Without the nemesis and whatever else has a keyword of EDN instead of a number (Jepsen's ``client-ops``)."""
    return [op for op in ops if not str(op.process).startswith(":") and op.process != "nemesis"]


def partners(ops: Sequence[Op]) -> list[int | None]:
    """For each half the index of the other, `None` if there is none (Jepsen's ``completion`` and ``invocation``)."""
    found: list[int | None] = [None] * len(ops)
    open_: dict[str, int] = {}
    for index, op in enumerate(ops):
        if op.type == INVOKE:
            open_[op.process] = index
        elif op.process in open_:
            begun = open_.pop(op.process)
            found[begun], found[index] = index, begun
    return found


def counted(number: int, noun: str) -> str:
    """Such as ``1 element`` and ``2 elements``."""
    return f"{number} {noun}{'s' * (number != 1)}"


def of_failed(ops: Sequence[Op], other: Sequence[int | None], index: int) -> bool:
    """Whether a half is of an operation that failed, which is to say that it did not happen; `other` are the `partners`."""
    end = other[index] if ops[index].type == INVOKE else index
    return end is not None and ops[end].type == FAIL
