"""What consumers were given that was not, as a whole, committed by then: few records of few runs, looked at more closely."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tidemark.checkers.history.history import Op, Value
from tidemark.checkers.replicas.committed import Committed


class Read(NamedTuple):
    """One record that a poll returned."""

    op: Op
    key: str
    offset: int
    value: Value


def unsettled_reads(answered: Sequence[Op], committed: Committed) -> list[Read]:
    """The records of successful polls of which some were not committed in the order of the poll, or not before it.

    Args:
        answered: the operations that gave clients something.
        committed: what became committed and when, after the whole trace.
    """
    found = []
    for op in answered:
        for key, records in answers(op):
            led = committed.newest_leader(key) is not None
            if records and led and not committed.had_committed(key, records, op.time):
                found += [Read(op, key, offset, value) for offset, value in records]
    return found


def answers(op: Op) -> Iterator[tuple[str, list[tuple[int, Value]]]]:
    """Per key what an operation's polls returned, as ``(offset, value)``."""
    for micro in op.value or ():
        if micro[0] == "poll":
            yield from micro[1].items()
