"""A block of a long history in EDN, read by itself, and blocks put together again (`history_blocks`).

Where it cannot be seen from a block alone what it is (it begins within a form, the nemesis has no times), or something is wrong in
it, there is none, and one reads the file from its beginning to its end.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tidemark.checkers.history.columns.columns import Columns
from tidemark.checkers.history.edn.reader import EdnError
from tidemark.checkers.history.edn_history import EdnReading
from tidemark.checkers.history.entry_order import Stretch
from tidemark.checkers.history.history import History
from tidemark.checkers.history.jepsen_nemesis import NemesisHalf
from tidemark.checkers.history.stretch import stretch_of


class EdnBlock(NamedTuple):
    """What one process has read: columns in the order of the file, names as they are there; what the nemesis did, and what each
    process did first and last.
    """

    columns: Columns
    nemesis: list[NemesisHalf]
    stretch: Stretch


def read_edn_block(lines: Iterable[bytes], *, begins: bool) -> EdnBlock | None:
    """Read blocks of whole lines, with which the file begins or not."""
    reading = EdnReading(part=True)
    try:
        reading.blocks(lines, 1 if begins else 2)
    except EdnError:
        return None
    columns = reading.builder.columns(named=False)
    stretch = stretch_of(columns, range(len(columns)), only_sends=True)  # nobody asks for the lines
    return None if stretch is None else EdnBlock(columns, reading.nemesis, stretch)


def edn_together(blocks: Iterable[EdnBlock | None]) -> History | None:
    """The history of all blocks; None if it takes one who reads all of it."""
    reading = EdnReading()
    for block in blocks:
        if block is None or not reading.join(*block):
            return None
    return reading.history() if len(reading.builder) else None
