"""A long history's file read in blocks, each by another process, and put together again: the same columns as one reader's.

Blocks are for operations of clients, line by line, as anybody's recorder writes them. Where a block has anything else (a trace, a
line that is wrong, a process that contradicts itself, line numbers with gaps), there is no block, and who reads the file from its
beginning to its end finds what it is, and says so as ever.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tidemark.checkers.history.columns.builder import ColumnsBuilder
from tidemark.checkers.history.columns.columns import FIRST_NUMBERED, KNOWN_FS, Columns
from tidemark.checkers.history.history import History, Op
from tidemark.checkers.history.history_file import MANY, HistoryFormatError, NotJsonError, entry_of, lines_of
from tidemark.checkers.history.line_count import LineCount
from tidemark.checkers.history.line_shapes import ShapeError, meta_of, op_of
from tidemark.checkers.history.plain_ops import plain_op

LEAST_BYTES: Final = 16 << 20
"""A block has at least so many, or it is not worth a process."""
BLOCKS_A_PROCESS: Final = 4
LONGEST_META: Final = 1 << 20
"""Of what is one line all over, no more than so many bytes are read."""


class Place(NamedTuple):
    """Where a block lies in its file: whole lines, in bytes."""

    path: Path
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Block:
    """What one process has read.

    Attributes:
        columns: of the block's operations, in the order of the file.
        first: the number of its first line, None if its lines have none.
        open: what each process has open at the end, by name.
        completed: what a process ended first that it had begun before, by name.
        began, ended: each process's first and last time, µs.
    """

    columns: Columns
    first: int | None
    open: dict[str, str]
    completed: dict[str, str]
    began: dict[str, int]
    ended: dict[str, int]


class _UnusualError(ValueError):
    """Something that only a reader of the whole file can judge."""


def places(path: Path, jobs: int) -> list[Place]:
    """The blocks of a file for so many processes; the first begins behind the meta line, if there is one. Fewer than two if it is
    not worth it, or it is no file of JSON lines.

    Raises:
        OSError: It cannot be read.
    """
    if not path.is_file():  # of a pipe nothing can be read twice
        return []
    with path.open("rb") as file:
        begin = _behind_meta(file.readline(LONGEST_META))
        size = file.seek(0, os.SEEK_END)
        if begin is None or size - begin < 2 * LEAST_BYTES:
            return []
        step = max(LEAST_BYTES, -(-(size - begin) // (jobs * BLOCKS_A_PROCESS)))
        ends = []
        for near in range(begin + step, size, step):
            file.seek(near)
            file.readline()
            ends.append(file.tell())
    bounds = sorted({begin, *ends, size})
    return [Place(path, one, other) for one, other in pairwise(bounds)]


def read_block(place: Place) -> Block | None:
    """Read a block; None if there is something unusual in it.

    Raises:
        OSError: It cannot be read.
    """
    reading = _Reading()
    with place.path.open("rb") as file:
        file.seek(place.begin)
        at = place.begin
        try:
            for line in lines_of(file):
                if line.strip():
                    reading.add(entry_of(line, 1 if at == 0 else 0))
                at += len(line)
                if at >= place.end:
                    break
            return reading.block()
        except (_UnusualError, NotJsonError, ShapeError, HistoryFormatError):
            return None


def together(path: Path, blocks: Iterable[Block | None]) -> History | None:
    """The history in a file whose blocks were read; None if it takes one who reads all of it.

    Raises:
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        line = file.readline(LONGEST_META)
    counted = LineCount()
    meta: dict[str, Any] = {}
    if _behind_meta(line):
        entry = entry_of(line, 1)
        counted.add(1, entry)
        del entry["kind"]
        try:
            meta = meta_of(entry)
        except ShapeError:
            return None
    joined = _Joined()
    for block in blocks:
        if block is None or not counted.follow(block.first, len(block.columns)) or not joined.add(block):
            return None
    if len(joined) < MANY:
        return None
    return History(meta, cut_off=counted.cut_off(torn=False), gaps=counted.gaps, columns=joined.columns().in_time())


def _behind_meta(line: bytes) -> int | None:
    """Where operations begin: behind the first line if it is the meta line. None if this is no line of JSON lines."""
    try:
        kind = entry_of(line, 1).get("kind")
    except (NotJsonError, ShapeError):
        return None
    return len(line) if kind == "meta" else 0


class _Reading:
    """Takes the lines of a block."""

    def __init__(self) -> None:
        self._builder = ColumnsBuilder()
        self._first: int | None = None
        self._open: dict[str, str] = {}
        self._completed: dict[str, str] = {}
        self._began: dict[str, int] = {}
        self._ended: dict[str, int] = {}

    def add(self, entry: dict[str, Any]) -> None:
        """The object of the next."""
        number = entry.pop("line", None)
        place = len(self._builder)
        if number is not None and type(number) is not int:
            raise _UnusualError
        if place == 0:
            self._first = number
        elif number != (None if self._first is None else self._first + place):
            raise _UnusualError
        if entry.pop("kind", None) != "op":
            raise _UnusualError
        op = plain_op(entry) or op_of(entry)
        self._follow(op)
        self._builder.add(op)

    def _follow(self, op: Op) -> None:
        process = op.process
        if process not in self._began:
            self._began[process] = op.time
            if op.type != "invoke":
                self._completed[process] = op.f
        else:
            if op.time < self._ended[process]:
                raise _UnusualError
            if (op.type == "invoke") == (process in self._open):
                raise _UnusualError
            if op.type != "invoke" and self._open[process] != op.f:
                raise _UnusualError
        self._ended[process] = op.time
        if op.type == "invoke":
            self._open[process] = op.f
        else:
            self._open.pop(process, None)

    def block(self) -> Block:
        """All of them."""
        if self._builder.renames:
            raise _UnusualError
        return Block(self._builder.columns(), self._first, self._open, self._completed, self._began, self._ended)


_OF_HALVES: Final = ("time", "time_ns", "type", "acks", "final")
_OF_ROWS: Final = ("row_kind", "row_offset")


class _Joined:
    """Blocks one behind the other, with the numbers that one reader would have given."""

    def __init__(self) -> None:
        self._open: dict[str, str] = {}
        self._ended: dict[str, int] = {}
        self._halves = 0
        self._columns: list[Columns] = []
        self._keys: dict[Any, int] = {}
        self._processes: dict[Any, int] = {}
        self._values: dict[Any, int] = {}
        self._errors: dict[Any, int] = {None: 0}
        self._fs: dict[Any, int] = {name: number for number, name in enumerate(KNOWN_FS)}

    def __len__(self) -> int:
        return self._halves

    def add(self, block: Block) -> bool:
        """The next block; false if its processes contradict what they did before."""
        for process, time in block.began.items():
            if time < self._ended.get(process, time) or self._open.pop(process, None) != block.completed.get(process):
                return False
        self._open |= block.open
        self._ended |= block.ended
        columns = block.columns
        value = columns.row_value
        if columns.values:
            many = value >= FIRST_NUMBERED
            value = value.copy()
            value[many] = FIRST_NUMBERED + _renumbered(
                value[many] - FIRST_NUMBERED, [(one.__class__, one) for one in columns.values], self._values
            )
        self._columns.append(
            replace(
                columns,
                process=_renumbered(columns.process, columns.processes, self._processes).astype(np.int32),
                f=_renumbered(columns.f, columns.fs, self._fs).astype(np.int32),
                error=_renumbered(columns.error, columns.errors, self._errors).astype(np.int32),
                row_key=_renumbered(columns.row_key, columns.keys, self._keys).astype(np.int32),
                row_value=value,
                row_half=columns.row_half + self._halves,
            )
        )
        self._halves += len(columns)
        return True

    def columns(self) -> Columns:
        """All of them."""
        names = (*_OF_HALVES, *_OF_ROWS, "process", "f", "error", "row_key", "row_value", "row_half")
        arrays = {name: np.concatenate([getattr(one, name) for one in self._columns]) for name in names}
        return Columns(
            **arrays,
            keys=list(self._keys),
            processes=list(self._processes),
            values=[value for _, value in self._values],
            errors=list(self._errors),
            fs=list(self._fs),
        )


def _renumbered(numbers: NDArray[Any], names: list[Any], known: dict[Any, int]) -> NDArray[np.int64]:
    """The numbers that some names have in all blocks; `known` gets those that are new."""
    table = np.array([known.setdefault(name, len(known)) for name in names], np.int64)
    return table[numbers] if len(table) else numbers.astype(np.int64)
