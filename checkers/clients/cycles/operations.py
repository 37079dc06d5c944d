"""The halves of a history as operations: which invocation and which completion belong together."""

from __future__ import annotations

import numpy as np

from tidemark.checkers.history.columns.columns import ACKS, F_SEND, F_TXN, INVOKE, OK, Bits, Columns, Ints

NEVER = -1
"""The half of an invocation that is not in the history, or of a completion that never came."""


class Operations:
    """All operations, numbered process by process and there in their order.

    Attributes:
        columns: of the history.
        of_half: the operation of each half (int32).
        begin, end: the halves of each operation's invocation and completion, `NEVER` if there is none. One of them there is.
        process: whose it is.
        over: whether what begins later comes after it: it is ok, and the system, not the client, said so (acks other than 0).
    """

    def __init__(self, columns: Columns, acks: str = "all") -> None:
        self.columns = columns
        few = len(columns.processes) <= 1 << 16
        process = columns.process.astype(np.uint16) if few else columns.process
        order = np.argsort(process, kind="stable")
        invokes, process = (columns.type == INVOKE)[order], process[order]
        first = np.ones(len(order), np.bool_)
        if len(order):
            first[1:] = invokes[1:] | ~invokes[:-1] | (process[1:] != process[:-1])
        starts = np.flatnonzero(first)
        self.of_half = np.empty(len(order), np.int32)
        self.of_half[order] = np.cumsum(first, dtype=np.int32) - 1
        lasts = np.concatenate((starts[1:], [len(order)]))[: len(starts)] - 1
        self.process = process[starts].astype(np.int64)
        self.begin = np.where(invokes[starts], order[starts], NEVER)
        self.end = np.where(invokes[lasts], NEVER, order[lasts])
        self.over: Bits = (self.end != NEVER) & (columns.type[self.end] == OK)
        self._without_acks(acks)

    def _without_acks(self, default: str) -> None:
        columns = self.columns
        zero = columns.acks == ACKS.index("0")
        if default == "0":
            zero |= columns.acks == ACKS.index(None)
        if zero.any():
            self.over[self.of_half[zero & (columns.f == F_SEND)]] = False

    def __len__(self) -> int:
        return len(self.begin)

    @property
    def first(self) -> Ints:
        """The first half of each."""
        return np.where(self.begin == NEVER, self.end, self.begin)

    @property
    def last(self) -> Ints:
        """The last half of each."""
        return np.where(self.end == NEVER, self.begin, self.end)

    @property
    def with_records(self) -> Bits:
        """Those that send or poll."""
        kinds: Bits = self.columns.f[self.last] <= F_TXN
        return kinds
