"""A history in EDN, as Jepsen's kafka workload writes it, read into columns.

Clients are the processes that are integers; what ``:nemesis`` did becomes strikes and healings. Times are nanoseconds there, and
microseconds here. What the checkers do not know is kept only where `forms` are asked for.

Lines such as Clojure prints them are read many at once (`edn_at_once`). Where a block of the file holds anything else, its
operations are read one by one; and so is all that follows, if the block does not end between two operations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import BinaryIO

import numpy as np

from tidemark.checkers.history.collector_paused import collector_paused
from tidemark.checkers.history.columns.builder import ColumnsBuilder
from tidemark.checkers.history.columns.columns import Columns
from tidemark.checkers.history.edn.forms import EdnMap
from tidemark.checkers.history.edn.operations import EdnOp, operations
from tidemark.checkers.history.edn.reader import LONGEST, EdnError
from tidemark.checkers.history.edn_halves import Names, half_of, nemesis_half, rebalanced_of, shown_form
from tidemark.checkers.history.entry_order import Sends, Stretch, other_sends, sends_of
from tidemark.checkers.history.history import History
from tidemark.checkers.history.jepsen_nemesis import NemesisHalf, strikes_and_healings
from tidemark.checkers.history.line_shapes import ShapeError
from tidemark.checkers.history.long_file import BLOCK, blocks_of


def read_edn(file: BinaryIO, *, forms: bool = False) -> History:
    """The history in an EDN file.

    Args:
        file: it.
        forms: whether to keep every operation as it is there, to write it again.

    Raises:
        EdnError: with the line, and what is wrong there.
        OSError: it cannot be read.
    """
    reading = EdnReading()
    kept: list[EdnMap] = []
    blocks = blocks_of(file)
    first = next(blocks, b"")
    if forms:
        reading.each(_kept(operations(chain((first,), blocks)), kept))
    elif len(first) < BLOCK:
        reading.each(operations((first,)))
    else:
        with collector_paused():
            reading.blocks(chain((first,), blocks))
    history = reading.history()
    history.forms = kept
    return history


def _kept(ops: Iterable[EdnOp], kept: list[EdnMap]) -> Iterator[EdnOp]:
    for op in ops:
        kept.append(op.fields)
        yield op


class EdnReading:
    """Takes the operations of a file, one by one or many at once, or of a part of one, where what was before is not known.

    Attributes:
        builder: has what clients did.
        nemesis: what the nemesis did.
    """

    def __init__(self, *, part: bool = False) -> None:
        self._part = part
        self.builder = ColumnsBuilder()
        self.nemesis: list[NemesisHalf] = []
        self._names = Names()
        self._latest = 0  # ns
        self._sending: dict[str | int, tuple[int, Sends]] = {}

    def blocks(self, blocks: Iterable[bytes], number: int = 1) -> None:
        """All blocks of a file, of whole lines each; the first line is the `number`-th.

        Raises:
            EdnError: with the line, and what is wrong there. In a part of a file something may only be unusual.
        """
        from tidemark.checkers.history.edn_at_once import EdnLinesReader  # it imports msgspec
        from tidemark.checkers.history.stretch import stretch_of

        reader = EdnLinesReader(part=self._part)
        blocks = iter(blocks)
        for block in blocks:
            found = reader.read(block, number, self._latest)
            stretch = None if found is None else stretch_of(found.columns, found.places, only_sends=True)
            if found is None or stretch is None or not self.join(found.columns, found.nemesis, stretch):
                ops = self._whole(block, number)
                if ops is None:
                    self.each(operations(chain((block,), blocks), number))
                    return
                self.each(ops)
            number += block.count(b"\n")

    def _whole(self, block: bytes, number: int) -> list[EdnOp] | None:
        """The operations of a block of whole lines; None if something is wrong, or goes on behind it, or it is long."""
        if len(block) > LONGEST:
            return None
        try:
            return list(operations((block,), number))
        except EdnError:
            if self._part:
                raise
            return None

    def each(self, ops: Iterable[EdnOp]) -> None:
        """The next operations.

        Raises:
            EdnError: with the line, and what is wrong there.
        """
        for op in ops:
            try:
                self._one(op)
            except (TypeError, ValueError, OverflowError, LookupError, AttributeError) as error:
                sentence = (
                    str(error) if isinstance(error, ShapeError) else f"{shown_form(op.value)} is no value of {op.f}"
                )
                raise EdnError(op.line, None, sentence) from None

    def _one(self, op: EdnOp) -> None:
        if not isinstance(op.process, int):
            self.nemesis += nemesis_half(op, None if self._part else self._latest)
            return
        self._latest = max(self._latest, self._latest if op.time is None else op.time)
        half = half_of(op, self._latest // 1000, self._names)
        self.builder.add(half, rebalanced_of(op, self._names), self._latest % 1000)
        if half.type == "invoke":
            self._sending[op.process] = op.line, sends_of(half)
        elif op.process in self._sending:
            line, asked = self._sending.pop(op.process)
            other = other_sends(asked, sends_of(half), half.type)
            if other:
                raise ShapeError(f"process {op.process} completes a {half.f} {other} (line {line})")

    def join(self, columns: Columns, nemesis: Iterable[NemesisHalf], stretch: Stretch) -> bool:
        """What clients and the nemesis did in the next lines; false, and it is not taken, if a process may contradict itself."""
        if not self._follow(stretch):
            return False
        if len(columns):
            columns = _not_before(self._latest, columns)
            self._latest = int(columns.time[-1]) * 1000 + int(columns.time_ns[-1])
        self.builder.join(columns)
        self.nemesis += nemesis
        return True

    def history(self) -> History:
        """All that was taken."""
        return History(columns=self.builder.columns(), nemesis=strikes_and_healings(self.nemesis))

    def _follow(self, stretch: Stretch) -> bool:
        """What the processes did in the next lines; false, and it is not followed, if a completion may send something else than
        what was invoked.
        """
        for process, (first, _) in stretch.items():
            if not first.invoked and self._sending.get(process, (0, ()))[1] not in ((), first.sends):
                return False
        for process, (_, last) in stretch.items():
            if last.invoked:
                self._sending[process] = last.line, last.sends
            else:
                self._sending.pop(process, None)
        return True


def _not_before(latest: int, columns: Columns) -> Columns:
    """Columns in order of time, of which none is before a time in ns."""
    if columns.time[0] > latest // 1000:
        return columns
    times = np.maximum(columns.time * 1000 + columns.time_ns, latest)
    return replace(columns, time=times // 1000, time_ns=(times % 1000).astype(np.int16))
