"""Halves of operations: which are clients', and which belong together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from tidemark.checkers.history.history import Op
from tidemark.checkers.objects.values import identity

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


def filled(ops: Sequence[Op], fs: Collection[str]) -> Sequence[Op]:
    """The halves of operations that put something somewhere, `fs`, and of others: what such a one that was ok was asked for, where
    its answer does not repeat it.

    Raises:
        ValueError: it is answered that something else was put there.
    """
    found = list(ops)
    for index, begun in enumerate(partners(ops)):
        op = ops[index]
        if op.type == OK and begun is not None and op.f in fs and op.value != (asked := ops[begun].value):
            if op.value is None:
                found[index] = op._replace(value=asked)
            elif asked is not None and identity(op.value) != identity(asked):
                raise ValueError(
                    f"operation {index}: {op.f} was invoked with {asked!r:.60}, and completed with {op.value!r:.60}"
                )
    return found


def counted(number: int, noun: str) -> str:
    """Such as ``1 element`` and ``2 elements``."""
    return f"{number} {noun}{'s' * (number != 1)}"


def of_failed(ops: Sequence[Op], other: Sequence[int | None], index: int) -> bool:
    """Whether a half is of an operation that failed, which is to say that it did not happen; `other` are the `partners`."""
    end = other[index] if ops[index].type == INVOKE else index
    return end is not None and ops[end].type == FAIL
