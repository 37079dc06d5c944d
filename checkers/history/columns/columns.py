"""The operations of clients as columns.

Two tables. A *half* is an invocation or a completion; a *row* is what a half says of one record or one key: a send, a record that a
poll returned, a key of which a poll returned nothing, a key that an assignment keeps, a deletion. Both are in the order of the
history, so the rows of one half follow each other.

Keys, processes, errors and kinds of operations are numbered as they come. A value is its own number if it is an integer that fits,
else `FIRST_NUMBERED` and its place in a table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Value = Any
Ints = NDArray[np.int64]
Small = NDArray[np.int8]
Bits = NDArray[np.bool_]

INVOKE, OK, INFO, FAIL = range(4)
TYPES = ("invoke", "ok", "info", "fail")

SEND, READ, NOTHING, KEPT, DELETION, REBALANCED = range(6)
"""The kinds of rows."""

KNOWN_FS = ("send", "poll", "txn", "assign", "subscribe", "delete")
F_SEND, F_POLL, F_TXN, F_ASSIGN, F_SUBSCRIBE, F_DELETE = range(6)

ACKS = (None, "all", "1", "0")

UNKNOWN = -1
"""An offset that nobody knows, or that there is none of (acks 0)."""

FIRST_NUMBERED = 1 << 62
"""The number of the first value that is no integer of 62 bits."""


_OF_HALVES = ("time", "time_ns", "process", "type", "f", "acks", "error", "final")
_OF_ROWS = ("row_kind", "row_key", "row_offset", "row_value")


@dataclass(frozen=True, slots=True)
class Columns:
    """All of them; times in µs, offsets exclusive.

    Attributes:
        time, process, type, f, acks, error, final: of the halves.
        time_ns: by how many nanoseconds each is later than its time, where the history has them.
        row_half, row_kind, row_key, row_offset, row_value: of the rows.
        keys, processes, values, errors, fs: what the numbers stand for.
    """

    time: Ints
    time_ns: NDArray[np.int16]
    process: NDArray[np.int32]
    type: Small
    f: NDArray[np.int32]
    acks: Small
    error: NDArray[np.int32]
    final: Small
    row_half: Ints
    row_kind: Small
    row_key: NDArray[np.int32]
    row_offset: Ints
    row_value: Ints
    keys: list[str]
    processes: list[str | int]
    values: list[Value]
    errors: list[str | None]
    fs: list[str]

    def __len__(self) -> int:
        return len(self.time)

    def only(self, halves: Ints) -> Columns:
        """Some halves, by their places in rising order, with their rows."""
        begins, ends = (np.searchsorted(self.row_half, halves, side) for side in ("left", "right"))
        rows = np.concatenate([np.arange(begin, end) for begin, end in zip(begins, ends, strict=True)] or [halves[:0]])
        return replace(
            self,
            **{name: getattr(self, name)[halves] for name in _OF_HALVES},
            **{name: getattr(self, name)[rows] for name in _OF_ROWS},
            row_half=np.searchsorted(halves, self.row_half[rows]),
        )

    def in_time(self) -> Columns:
        """The same in order of time, halves of one time as they were."""
        if not len(self) or (self.time[1:] >= self.time[:-1]).all():
            return self
        order = np.argsort(self.time, kind="stable")
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        half = place[self.row_half]
        rows = np.argsort(half, kind="stable")
        halves = {name: getattr(self, name)[order] for name in _OF_HALVES}
        of_rows = {name: getattr(self, name)[rows] for name in _OF_ROWS}
        return replace(self, **halves, **of_rows, row_half=half[rows])

    def value(self, number: int) -> Value:
        """The value that a number stands for."""
        return self.values[number - FIRST_NUMBERED] if number >= FIRST_NUMBERED else int(number)
