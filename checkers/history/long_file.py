"""A file of JSON lines, which may be long: then its lines are read many at once, where they are what most lines are."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from tidemark.checkers.history.collector_paused import collector_paused
from tidemark.checkers.history.history import History
from tidemark.checkers.history.history_file import LONGEST_LINE, MANY, Parsing, parse_history
from tidemark.checkers.history.opened import open_history

BLOCK = 1 << 18
"""So many bytes are read at a time: a thousand lines or two. What is made of more does not stay in the
processor's cache.
"""
LONG = 4 << 20
"""From so many bytes on a file may have `MANY` operations."""


def read_history(path: str | Path, *, allow_torn_tail: bool = False) -> History:
    """Read a history written by `write_history`, or by anybody who follows the same format.

    Args:
        path: the file.
        allow_torn_tail: take a file whose last line was not written to its end (the run was killed) for a history that was cut
            off; also one of which nothing but that is there.

    Raises:
        HistoryFormatError: with the number of the line and what is wrong with it.
    """
    with open_history(Path(path)) as file:
        return parse_file(file, allow_torn_tail=allow_torn_tail)


def parse_file(file: BinaryIO, *, allow_torn_tail: bool = False) -> History:
    """The history in an open file; see `read_history`. What a block's lines are is said by who reads lines one by one, unless they
    are all operations as most are: the history is the same.
    """
    blocks = blocks_of(file)
    begin = []
    for block in blocks:
        begin.append(block)
        if len(begin) * BLOCK >= LONG:
            break
    else:
        return parse_history(_lines(begin), allow_torn_tail=allow_torn_tail)
    from tidemark.checkers.history.lines_at_once import LinesReader  # it imports numpy
    from tidemark.checkers.history.stretch import stretch_of

    reader, parsing = LinesReader(), Parsing()
    kept: list[bytes] = []
    with collector_paused():
        for block in chain(begin, blocks):
            if parsing.operations < MANY:
                kept.append(block)
            else:
                kept.clear()
            found = reader.read(block, parsing.number + 1)
            if found is None or not parsing.at_once(found, stretch_of(found.columns, found.places)):
                for line in io.BytesIO(block):
                    parsing.line(line)
            if parsing.operations < MANY and parsing.one_by_one:
                break
        else:
            if parsing.operations >= MANY:
                return parsing.end(allow_torn_tail=allow_torn_tail)
    return parse_history(_lines(chain(kept, blocks)), allow_torn_tail=allow_torn_tail)  # each is wanted by itself


def blocks_of(file: BinaryIO, size: int = sys.maxsize) -> Iterator[bytes]:
    """The next so many bytes of a file in blocks of whole lines: `BLOCK` bytes, and the rest of the last line, of which too long a
    one has no end.
    """
    while size > 0 and (block := file.read(min(BLOCK, size))):
        whole = block if block[-1:] == b"\n" else block + file.readline(LONGEST_LINE + 1)
        yield whole
        size -= len(whole)


def _lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    for block in blocks:
        yield from io.BytesIO(block)
