"""A history, whatever file it is in: JSON lines or EDN, also gzipped, and as a stream.

What a file is, is seen from how it begins, not from its name.

>>> import io
>>> read_stream(io.BytesIO(b"{:type :ok, :process 0, :f :send, :value [[:send 0 [0 7]]]}")).columns.keys
['0']
"""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path
from typing import BinaryIO, cast

from tidemark.checkers.history.edn.reader import EdnError
from tidemark.checkers.history.history import History
from tidemark.checkers.history.history_file import HistoryFormatError, lines_of, parse_history
from tidemark.checkers.history.jepsen_log import begins_as_jepsen_log, read_jepsen_log
from tidemark.checkers.history.long_file import parse_file
from tidemark.checkers.history.opened import open_history

_GZIP = b"\x1f\x8b"
_PEEKED = 1 << 12
_NO_LINE = "there is not one line of a history here (docs/checking-your-own-history.md begins with the smallest)"
_UTF_8 = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def read_any(path: str | Path, *, allow_torn_tail: bool = False, forms: bool = False, rows: bool = False) -> History:
    """The history in a file; see `read_stream`."""
    with open_history(Path(path)) as file:
        return read_stream(file, allow_torn_tail=allow_torn_tail, forms=forms, rows=rows)


def read_stream(file: BinaryIO, *, allow_torn_tail: bool = False, forms: bool = False, rows: bool = False) -> History:
    """The history in a stream.

    Args:
        file: JSON lines or EDN, perhaps gzipped.
        allow_torn_tail: take JSON lines whose last is not whole for a history that was cut off.
        forms: whether to keep the operations of EDN as they are there.
        rows: whether to have each operation in `History.ops` with its value, also of registers, sets and the like; of EDN the
            nemesis's too, as they are listed.

    Raises:
        HistoryFormatError: it is no history, with the line and what is wrong there.
        OSError: it cannot be read.
    """
    buffered = file if isinstance(file, io.BufferedReader) else io.BufferedReader(cast("io.RawIOBase", file))
    zipped = buffered.peek(2)[:2] == _GZIP
    if zipped:
        buffered = io.BufferedReader(cast("io.RawIOBase", gzip.GzipFile(fileobj=buffered)))
    try:
        if begins_as_jepsen_log(buffered.peek(_PEEKED)):
            return _read_log(buffered)
        return _read(buffered, allow_torn_tail=allow_torn_tail, forms=forms, rows=rows)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise HistoryFormatError(1, f"the file is gzipped, and broken ({error})") from None


def _read_log(file: io.BufferedReader) -> History:
    try:
        return History({"ties": "listed"}, read_jepsen_log(file))
    except EdnError as error:
        raise HistoryFormatError(error.line, error.sentence) from None


def _read(file: io.BufferedReader, *, allow_torn_tail: bool, forms: bool, rows: bool) -> History:
    begin = file.peek(_PEEKED)
    _refuse_other_files(begin)
    if not is_edn(begin):
        if rows:
            return parse_history(lines_of(file), allow_torn_tail=allow_torn_tail, columns=False)
        return parse_file(file, allow_torn_tail=allow_torn_tail)
    from tidemark.checkers.history.edn.reader import EdnError
    from tidemark.checkers.history.edn_history import read_edn
    from tidemark.checkers.history.edn_ops import read_edn_ops

    try:
        found = History({"ties": "listed"}, read_edn_ops(file)) if rows else read_edn(file, forms=forms)
        if begin.lstrip()[:1] in b";#" and not (found.ops or found.columns or found.nemesis):
            raise HistoryFormatError(1, _NO_LINE)
        return found
    except EdnError as error:
        column = "" if error.column is None else f"column {error.column}: "
        raise HistoryFormatError(error.line, f"{column}{error.sentence}") from None


def _refuse_other_files(begin: bytes) -> None:
    """Say what a file is that is no history, as far as its beginning shows that."""
    if begin[:2] in _UTF_16:
        raise HistoryFormatError(1, "this is UTF-16, and a history is UTF-8 (iconv -f UTF-16 -t UTF-8 makes it that)")
    text = begin.removeprefix(_UTF_8).lstrip(b" \t\r\n,")
    if not text and len(begin) < _PEEKED:
        raise HistoryFormatError(1, _NO_LINE)
    if text and (b"\0" in text or text[:1] not in b"{[(#;"):
        line = 1 + begin[: len(begin) - len(text)].count(b"\n")
        raise HistoryFormatError(line, "this is no history: neither JSON lines, nor Jepsen's EDN, nor Parquet")


def is_edn(begin: bytes) -> bool:
    """Whether a file that begins so is EDN: a map with keywords, a collection, a tag, or a comment."""
    text = begin.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n,")
    if text[:1] == b"{":
        return text[1:].lstrip()[:1] not in (b'"', b"")
    return text[:1] in (b"[", b"(", b"#", b";")
