"""A history in EDN, as Jepsen's kafka workload writes it, read into columns.

Clients are the processes that are integers; what ``:nemesis`` did becomes strikes and healings. Times are nanoseconds there, and
microseconds here. What the checkers do not know is kept only where `forms` are asked for.

Lines such as Clojure prints them are read many at once (`edn_at_once`). Where a block of the file holds anything else, its
operations are read one by one; and so is all that follows, if the block does not end between two operations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO

from tidemark.checkers.history.collector_paused import collector_paused
from tidemark.checkers.history.columns.builder import ColumnsBuilder
from tidemark.checkers.history.edn.operations import EdnOp, operations
from tidemark.checkers.history.edn.reader import EdnError
from tidemark.checkers.history.edn_halves import Names, half_of, nemesis_half, rebalanced_of, shown_form
from tidemark.checkers.history.entry_order import Sends, Stretch, other_sends, sends_of
from tidemark.checkers.history.history import History
from tidemark.checkers.history.jepsen_nemesis import NemesisHalf, strikes_and_healings
from tidemark.checkers.history.line_shapes import ShapeError
from tidemark.checkers.history.long_file import BLOCK, blocks_of

if TYPE_CHECKING:
    from tidemark.checkers.history.edn_at_once import EdnLines


def read_edn(file: BinaryIO, *, forms: bool = False) -> History:
    """The history in an EDN file.

    Args:
        file: it.
        forms: whether to keep every operation as it is there, to write it again.

    Raises:
        EdnError: with the line, and what is wrong there.
        OSError: it cannot be read.
    """
    history = History()
    reading = EdnReading()
    blocks = blocks_of(file)
    first = next(blocks, b"")
    if forms or len(first) < BLOCK:
        reading.each(_kept(operations(chain((first,), blocks)), history) if forms else operations((first,)))
    else:
        with collector_paused():
            reading.blocks(chain((first,), blocks))
    history.columns = reading.builder.columns()
    history.nemesis = strikes_and_healings(reading.nemesis)
    return history


def _kept(ops: Iterable[EdnOp], history: History) -> Iterator[EdnOp]:
    for op in ops:
        history.forms.append(op.fields)
        yield op


class EdnReading:
    """Takes the operations of a file, or of a part of one, one by one or many at once.

    Attributes:
        builder: has what clients did.
        nemesis: what the nemesis did.
    """

    def __init__(self) -> None:
        self.builder = ColumnsBuilder()
        self.nemesis: list[NemesisHalf] = []
        self._names = Names()
        self._latest = 0  # ns
        self._sending: dict[str | int, tuple[int, Sends]] = {}

    def blocks(self, blocks: Iterable[bytes]) -> None:
        """All blocks of a file, of whole lines each.

        Raises:
            EdnError: with the line, and what is wrong there.
        """
        from tidemark.checkers.history.edn_at_once import EdnLinesReader  # it imports msgspec

        reader, number = EdnLinesReader(), 1
        blocks = iter(blocks)
        for block in blocks:
            found = reader.read(block, number, self._latest)
            if found is None or not self.at_once(found):
                try:
                    ops = list(operations((block,), number))
                except EdnError:  # it is wrong, or does not end here
                    self.each(operations(chain((block,), blocks), number))
                    return
                self.each(ops)
            number += block.count(b"\n")

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
            self.nemesis += nemesis_half(op, self._latest)
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

    def at_once(self, found: EdnLines) -> bool:
        """The next lines, which were read together; false, and they are not taken, if a process may contradict itself."""
        from tidemark.checkers.history.stretch import stretch_of

        stretch = stretch_of(found.columns, found.places, only_sends=True)
        if stretch is None or not self.follow(stretch):
            return False
        self.builder.join(found.columns)
        self.nemesis += found.nemesis
        self._latest = found.latest
        return True

    def follow(self, stretch: Stretch) -> bool:
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
