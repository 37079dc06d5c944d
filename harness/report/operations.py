"""The operations of a history as numbers, for what is counted and drawn over time: when each began, when and how it ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidemark.checkers.history.columns.columns import DELETION, KNOWN_FS, SEND, TYPES, Columns
from tidemark.checkers.history.columns.rows_back import ops_of
from tidemark.checkers.history.history import History, Op

Ints = NDArray[np.int64]
Bits = NDArray[np.bool_]

NEMESIS = ":nemesis"
"""The process that stands for no client, where operations of EDN are kept with their values."""

OUTCOMES = ("ok", "info", "fail")
OK, INFO, FAIL = range(3)
"""How an operation ended. One that never did counts as info: nobody knows whether it happened."""

NONE = -1
"""There is no such half."""

_INVOKE = TYPES.index("invoke")
_OUTCOME = np.array([INFO if name == "invoke" else OUTCOMES.index(name) for name in TYPES], np.int8)


@dataclass(frozen=True)
class Operations:
    """Those of the clients, in the order in which they began; of *n* operations the arrays have *n* places.

    Attributes:
        invocation, completion: their halves in the history; `NONE` where there is none.
        began, ended: µs; of one without an invocation both are its completion's, of one that never ended both its invocation's.
        outcome: `OK`, `INFO` or `FAIL`.
        f, process: numbers of `fs` and `processes`.
        asked, asked_key: pairs of an operation and a key that it names when it begins or of which it is a send, numbers of `keys`.
        halves: how many halves there are in all.
        finer: whether the history tells times in ns.
    """

    invocation: Ints
    completion: Ints
    began: Ints
    ended: Ints
    outcome: NDArray[np.int8]
    f: NDArray[np.int32]
    process: NDArray[np.int32]
    asked: Ints
    asked_key: Ints
    fs: list[str]
    processes: list[str | int]
    keys: list[str]
    halves: int
    finer: bool

    def __len__(self) -> int:
        return len(self.began)

    @classmethod
    def of(cls, history: History, *, keyed: bool = False) -> Operations:
        """The operations of a history. `keyed`: the value of each is a pair, whose first is a key (Jepsen's ``independent``)."""
        halves = _of_columns(history.columns) if history.columns is not None else _of_ops(history.ops, keyed=keyed)
        return _paired(halves)

    @property
    def timed(self) -> Bits:
        """Those whose latency is known: they have both halves."""
        both: Bits = (self.invocation != NONE) & (self.completion != NONE)
        return both

    @property
    def latency(self) -> Ints:
        """µs from the invocation to the completion; 0 where one is missing."""
        return self.ended - self.began

    @cached_property
    def span(self) -> tuple[int, int]:
        """The first and the last moment of them all, µs."""
        return (int(self.began.min()), int(max(self.ended.max(), self.began.max()))) if len(self) else (0, 0)

    @property
    def has_times(self) -> bool:
        """Whether times are times: a history with more than one half a µs has the places of its entries there, or nothing, unless
        it tells ns.
        """
        begin, end = self.span
        return end - begin >= (1 if self.finer else self.halves) > 0

    @cached_property
    def kinds(self) -> list[int]:
        """The numbers of the kinds that there are: those that the checkers know first, then as they appeared."""
        there = np.flatnonzero(np.bincount(self.f, minlength=len(self.fs))).tolist()
        known = [KNOWN_FS.index(self.fs[f]) if self.fs[f] in KNOWN_FS else len(KNOWN_FS) for f in there]
        return [f for _, f in sorted(zip(known, there, strict=True))]

    @cached_property
    def by_key(self) -> dict[str, Ints]:
        """The operations that name a key, by its name, in the order of names."""
        order = np.argsort(self.asked_key, kind="stable")
        keys, first = np.unique(self.asked_key[order], return_index=True)
        parts = np.split(self.asked[order], first[1:]) if len(keys) else []
        found = ((self.keys[key], part) for key, part in zip(keys.tolist(), parts, strict=True))
        return dict(sorted(found, key=lambda one: one[0]))


@dataclass(frozen=True, slots=True)
class _Halves:
    """The halves of clients; `number` is each one's place in the history, pairs are halves and keys that they name."""

    number: Ints
    time: Ints
    type: NDArray[np.int8]
    f: NDArray[np.int32]
    process: NDArray[np.int32]
    naming: Ints
    named: Ints
    fs: list[str]
    processes: list[str | int]
    keys: list[str]
    finer: bool = False


def _of_columns(columns: Columns) -> _Halves:
    naming = (columns.row_kind == SEND) | (columns.row_kind == DELETION)
    return _Halves(
        number=np.arange(len(columns)),
        time=columns.time,
        type=columns.type,
        f=columns.f,
        process=columns.process,
        naming=columns.row_half[naming],
        named=columns.row_key[naming].astype(np.int64),
        fs=columns.fs,
        processes=columns.processes,
        keys=columns.keys,
        finer=bool(columns.time_ns.any()),
    )


def _of_ops(ops: Sequence[Op], *, keyed: bool) -> _Halves:
    fs, processes, keys = _Numbers(), _Numbers(), _Numbers()
    clients = [(number, op) for number, op in enumerate(ops) if op.process != NEMESIS]
    named = [(half, keys[key]) for half, (_, op) in enumerate(clients) for key in _keys(op, keyed=keyed)]
    return _Halves(
        number=np.array([number for number, _ in clients], np.int64),
        time=np.array([op.time for _, op in clients], np.int64),
        type=np.array([TYPES.index(op.type) for _, op in clients], np.int8),
        f=np.array([fs[op.f] for _, op in clients], np.int32),
        process=np.array([processes[op.process] for _, op in clients], np.int32),
        naming=np.array([half for half, _ in named], np.int64),
        named=np.array([key for _, key in named], np.int64),
        fs=list(fs),
        processes=list(processes),
        keys=list(keys),
    )


class _Numbers(dict[Any, int]):
    """What was seen → its number, in order of appearance."""

    def __missing__(self, name: object) -> int:
        self[name] = number = len(self)
        return number


def _keys(op: Op, *, keyed: bool) -> Iterator[str]:
    """The keys that an operation names when it begins, and of its sends."""
    if not isinstance(op.value, list | tuple):
        return
    if keyed:
        yield from map(str, op.value[:1])
    elif op.f in ("send", "poll", "txn", "delete"):
        yield from (
            micro[1]
            for micro in op.value
            if isinstance(micro, list | tuple) and len(micro) > 1 and micro[0] in ("send", "delete")
        )


def _paired(halves: _Halves) -> Operations:
    """A completion belongs to the invocation right before it of the same process."""
    order = np.argsort(halves.process, kind="stable")
    process, begins = halves.process[order], halves.type[order] == _INVOKE
    answered = np.zeros(len(order), np.bool_)
    answered[:-1] = begins[:-1] & ~begins[1:] & (process[:-1] == process[1:])
    answers = np.zeros(len(order), np.bool_)
    answers[1:] = answered[:-1]
    first = np.flatnonzero(~answers)
    second = np.where(answered[first], first + 1, first)
    begin, end = order[first], order[second]
    in_order = np.lexsort((begin, halves.time[begin]))
    begin, end = begin[in_order], end[in_order]
    invoked, completed = halves.type[begin] == _INVOKE, halves.type[end] != _INVOKE
    operation = np.empty(len(order), np.int64)
    operation[begin] = operation[end] = np.arange(len(begin))
    several = max(len(halves.keys), 1)
    pairs = np.unique(operation[halves.naming] * several + halves.named)
    return Operations(
        invocation=np.where(invoked, halves.number[begin], NONE),
        completion=np.where(completed, halves.number[end], NONE),
        began=halves.time[begin].astype(np.int64),
        ended=halves.time[end].astype(np.int64),
        outcome=_OUTCOME[halves.type[end]],
        f=halves.f[begin],
        process=halves.process[begin],
        asked=pairs // several,
        asked_key=pairs % several,
        fs=halves.fs,
        processes=halves.processes,
        keys=halves.keys,
        halves=len(order),
        finer=halves.finer,
    )


def halves_of(history: History, numbers: Ints) -> dict[int, Op]:
    """Some halves of a history, by their numbers."""
    if history.columns is None:
        return {int(number): history.ops[number] for number in numbers}
    wanted = np.unique(numbers)
    return dict(zip(wanted.tolist(), ops_of(history.columns.only(wanted)), strict=True))
