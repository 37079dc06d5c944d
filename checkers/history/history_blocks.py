"""A long history's file read in blocks, each by another process, and put together again: the same columns as one reader's.

Blocks are for operations of clients and of the nemesis, line by line, as anybody's recorder writes them. Where a block has anything
else (a trace, a line that is wrong, a process that contradicts itself, line numbers with gaps), there is no block, and who reads
the file from its beginning to its end finds what it is, and says so as ever.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, pairwise, repeat
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from tidemark.checkers.history.collector_paused import collector_paused
from tidemark.checkers.history.columns.builder import ColumnsBuilder
from tidemark.checkers.history.columns.columns import Columns
from tidemark.checkers.history.edn_blocks import EdnBlock, edn_together, read_edn_block
from tidemark.checkers.history.entry_order import EntryOrder, Stretch
from tidemark.checkers.history.history import History, NemesisOp
from tidemark.checkers.history.history_file import MANY, NotJsonError, entry_of
from tidemark.checkers.history.line_count import LineCount
from tidemark.checkers.history.line_shapes import ShapeError, meta_of
from tidemark.checkers.history.lines_at_once import LinesReader
from tidemark.checkers.history.long_file import blocks_of
from tidemark.checkers.history.reading import is_edn
from tidemark.checkers.history.stretch import stretch_of

LEAST_BYTES: Final = 16 << 20
"""A block has at least so many, or it is not worth a process."""
BLOCKS_A_PROCESS: Final = 4
LONGEST_META: Final = 1 << 20
"""Of what is one line all over, no more than so many bytes are read."""


class Place(NamedTuple):
    """Where a block lies in its file: whole lines, in bytes. The file is of JSON lines, or of EDN."""

    path: Path
    begin: int
    end: int
    edn: bool


@dataclass(frozen=True, slots=True)
class Block:
    """What one process has read.

    Attributes:
        columns: of the block's operations, in the order of the file, names as they are there.
        nemesis: strikes and healings.
        first: the number of its first line, None if its lines have none.
        told: how many lines there are that are not empty.
        stretch: what each process did.
    """

    columns: Columns
    nemesis: list[NemesisOp]
    first: int | None
    told: int
    stretch: Stretch


class _UnusualError(ValueError):
    """Something that only a reader of the whole file can judge."""


def places(path: Path, jobs: int) -> list[Place]:
    """The blocks of a file for so many processes; the first begins behind the meta line, if there is one. Fewer than two if it is
    not worth it, or it is no file of JSON lines or of EDN, line by line.

    Raises:
        OSError: It cannot be read.
    """
    if not path.is_file():  # of a pipe nothing can be read twice
        return []
    with path.open("rb") as file:
        line = file.readline(LONGEST_META)
        edn = is_edn(line) and line[:1] != b"["
        begin = 0 if edn else _behind_meta(line)
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
    return [Place(path, one, other, edn) for one, other in pairwise(bounds)]


def read_block(place: Place) -> Block | EdnBlock | None:
    """Read a block; None if there is something unusual in it.

    Raises:
        OSError: It cannot be read.
    """
    with place.path.open("rb") as file, collector_paused():
        file.seek(place.begin)
        blocks = blocks_of(file, place.end - place.begin)
        return (read_edn_block if place.edn else _read_json)(blocks, begins=place.begin == 0)


def _read_json(blocks: Iterable[bytes], *, begins: bool) -> Block | None:
    reading = _Reading()
    try:
        for number, lines in zip(chain((1 if begins else 2,), repeat(2)), blocks, strict=False):  # only 1 is another
            reading.add(lines, number)
        return reading.block()
    except _UnusualError:
        return None


def together(path: Path, blocks: Iterable[Block | EdnBlock | None]) -> History | None:
    """The history in a file whose blocks were read; None if it takes one who reads all of it.

    Raises:
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        line = file.readline(LONGEST_META)
    if is_edn(line):
        return edn_together(cast("Iterable[EdnBlock | None]", blocks))
    return _json_together(line, cast("Iterable[Block | None]", blocks))


def _json_together(line: bytes, blocks: Iterable[Block | None]) -> History | None:
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
    order, builder = EntryOrder(), ColumnsBuilder()
    nemesis: list[NemesisOp] = []
    for block in blocks:
        if block is None or not counted.follow(block.first, block.told) or not order.follow(block.stretch):
            return None
        builder.join(block.columns)
        nemesis += block.nemesis
    if len(builder) < MANY:
        return None
    history = History(
        meta,
        nemesis=nemesis,
        cut_off=counted.cut_off(torn=False),
        gaps=counted.gaps,
        columns=builder.columns().in_time(),
    )
    EntryOrder.sort(history)
    return history


def _behind_meta(line: bytes) -> int | None:
    """Where operations begin: behind the first line if it is the meta line. None if this is no line of JSON lines."""
    try:
        kind = entry_of(line, 1).get("kind")
    except (NotJsonError, ShapeError):
        return None
    return len(line) if kind == "meta" else 0


class _Reading:
    """Takes the lines of a block, many at once or one by one."""

    def __init__(self) -> None:
        self._builder = ColumnsBuilder()
        self._reader = LinesReader()
        self._nemesis: list[NemesisOp] = []
        self._first: int | None = None
        self._told = 0

    def add(self, lines: bytes, number: int) -> None:
        """The next, some thousand, of which the first is the `number`-th."""
        found = self._reader.read(lines, number)
        if found is None:
            raise _UnusualError
        if not found.told:
            return
        if self._told == 0:
            self._first = found.first
        elif found.first != (None if self._first is None else self._first + self._told):
            raise _UnusualError
        self._told += found.told
        self._nemesis += found.nemesis
        self._builder.join(found.columns)

    def block(self) -> Block:
        """All of them."""
        columns = self._builder.columns(named=False)
        stretch = stretch_of(columns, range(len(columns)))  # nobody asks for the lines
        if stretch is None:
            raise _UnusualError
        return Block(columns, self._nemesis, self._first, self._told, stretch)
