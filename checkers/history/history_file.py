"""`history.jsonl`: a history as one JSON object a line.

The first line is the meta line; the rest is in order of time, and at equal times trace before nemesis before
operations, so the same history is always the same bytes. Every line has its number, and the meta line says how many there are, so
that what is missing is seen (`LineCount`). Arrays become tuples when read, except where
``docs/history.md`` has lists: the records of a poll, and everything inside `meta` and the detail of a nemesis
operation, which are plain JSON.

Trace events are written with their fields by name; an event that `TRACE_FIELDS` does not know keeps its fields
in ``"fields"``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from tidemark.checkers.history.entry_order import EntryOrder, Stretch
from tidemark.checkers.history.history import History, NemesisOp, Op
from tidemark.checkers.history.line_count import LineCount
from tidemark.checkers.history.line_shapes import (
    DEEPEST,
    Json,
    ShapeError,
    meta_of,
    nemesis_of,
    op_of,
    shown,
    trace_event_of,
)
from tidemark.checkers.history.plain_ops import plain_op
from tidemark.checkers.history.trace_events import TIME, TRACE_FIELDS, TraceEvent

if TYPE_CHECKING:
    from tidemark.checkers.history.columns.builder import ColumnsBuilder
    from tidemark.checkers.history.columns.columns import Columns

MANY = 100_000
"""From so many operations on, those of a history without a trace are kept in columns."""

LONGEST_LINE = 1 << 26
"""Bytes. A final poll of a million records has less than half of them."""

_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


class HistoryFormatError(ValueError):
    """A line of a history file is not what ``docs/history.md`` says; `line` counts from 1."""

    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(f"line {line}: {sentence}")
        self.line = line
        self.sentence = sentence


def write_history(history: History, path: str | Path) -> None:
    """Write `history` to `path`, always the same bytes for the same history: whole, or not at all.

    It is written beside its place and renamed when it is there, so that a full disk or a kill leaves what was there before.

    Raises:
        OSError: it cannot be written.
    """
    place = Path(path).resolve()
    if place.exists() and not place.is_file():
        _write(history, place)
        return
    new = place.with_name(f".{place.name}.{os.getpid()}.new")
    try:
        _write(history, new)
        new.replace(place)
    finally:
        new.unlink(missing_ok=True)


def _write(history: History, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(line + "\n" for line in history_lines(history))


def history_lines(history: History) -> Iterator[str]:
    """The lines of the file, without line ends. A history that is not whole does not say how many there must be."""
    whole = not (history.cut_off or history.gaps)
    operations = history.ops if history.columns is None else _from_columns(history.columns)
    lines = 1 + len(history.trace) + len(history.nemesis) + len(operations)
    yield meta_line(history.meta, lines if whole else None)
    timed: list[tuple[int, Callable[[Any, int], str], Any]] = [
        (event[TIME], trace_line, event) for event in history.trace
    ]
    timed += [(op[0], nemesis_line, op) for op in history.nemesis]
    timed += [(op.time, op_line, op) for op in operations]
    timed.sort(key=lambda entry: entry[0])
    for number, (_, line, entry) in zip(count(2), timed, strict=False):
        yield line(entry, number)


def _from_columns(columns: Columns) -> list[Op]:
    from tidemark.checkers.history.columns.rows_back import ops_of

    return list(ops_of(columns))


def meta_line(meta: dict[str, Any], lines: int | None) -> str:
    """The first line of a file of so many lines; None if that is not known yet."""
    total = {} if lines is None else {"lines": lines}
    return _encode({"kind": "meta", "line": 1, **total, **meta})


def op_line(op: Op, number: int) -> str:
    """The line of an operation, which is the `number`-th of its file; the meta line is the first."""
    return _encode({"kind": "op", "line": number, **dict(zip(Op._fields, op, strict=True))})


def nemesis_line(op: NemesisOp, number: int) -> str:
    """The line of a strike or a healing."""
    time, what, index, kind, detail = op
    line = {
        "kind": "nemesis",
        "line": number,
        "time": time,
        "what": what,
        "index": index,
        "fault": kind,
        "detail": detail,
    }
    return _encode(line)


def trace_line(event: TraceEvent, number: int) -> str:
    """The line of a trace event."""
    time, node, name, partition, *rest = event
    line = {"kind": "trace", "line": number, "time": time, "node": node, "event": name, "partition": partition}
    fields = TRACE_FIELDS.get(name)
    if fields is None or len(fields) != len(rest):
        line["fields"] = rest
    else:
        line.update(zip(fields, rest, strict=True))
    return _encode(line)


def lines_of(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file, none of which may fill all memory.

    Raises:
        HistoryFormatError: one has more than `LONGEST_LINE` bytes.
    """
    readline = file.readline
    for number in count(1):
        line = readline(LONGEST_LINE + 1)
        if not line:
            return
        if len(line) > LONGEST_LINE:
            raise HistoryFormatError(number, _too_long())
        yield line


def parse_history(lines: Iterable[str | bytes], *, allow_torn_tail: bool = False, columns: bool = True) -> History:
    """The history in `lines`; see `read_history`. A missing meta line means that nothing is known about the run.

    `columns` may be false where values count that are no records.

    Lines may be out of order as long as no process and no node goes back in time. Where lines are missing it cannot be asked
    whether the rest makes sense, and is not.
    """
    parsing = Parsing(columns=columns)
    for line in lines:
        parsing.line(line)
    return parsing.end(allow_torn_tail=allow_torn_tail)


def _too_long() -> str:
    return f"it has more than {LONGEST_LINE >> 20} MB; a line is one operation or event"


class LinesAtOnce(NamedTuple):
    """What was read of some lines together.

    Attributes:
        columns: of the operations, names as they are there.
        places: the lines of the operations.
        nemesis: strikes and healings.
        first: the number that the first line says it has, and the others follow it; None if none has one.
        told: how many lines there are that are not empty.
        lines: how many there are.
    """

    columns: Columns
    places: Sequence[int]
    nemesis: list[NemesisOp]
    first: int | None
    told: int
    lines: int


class Parsing:
    """Takes the lines of a file, one by one or many at once.

    Attributes:
        number: of the last line.
    """

    def __init__(self, *, columns: bool = True) -> None:
        self._columns = columns
        self._history = History()
        self._counted = LineCount()
        self._order = EntryOrder()
        self._torn: HistoryFormatError | None = None
        self.number = 0
        self._builder: ColumnsBuilder | None = None

    def line(self, line: str | bytes) -> None:
        """The next.

        Raises:
            HistoryFormatError: It, or the one before, is none.
        """
        self.number += 1
        number = self.number
        if len(line) > LONGEST_LINE:
            raise HistoryFormatError(number, _too_long())
        if self._torn is not None:
            raise self._torn
        if not line.strip():
            return
        try:
            entry = entry_of(line, number)
            self._counted.add(number, entry)
            _add(self._history, entry, number, self._order, of_logs=self._columns)
            if "model" in self._history.meta:
                self._columns = False  # every value counts
            if self._columns and len(self._history.ops) >= MANY and not self.one_by_one:
                self._take()
        except NotJsonError as error:
            self._torn = HistoryFormatError(number, str(error))
            if line[-1:] in ("\n", b"\n"):
                raise self._torn from None
        except ShapeError as error:
            raise HistoryFormatError(number, str(error)) from None

    def at_once(self, found: LinesAtOnce, stretch: Stretch | None) -> bool:
        """The next lines, which were read together, and what each process did there, None if that may contradict itself; false, and
        they are not taken, if they contradict themselves or what was before.
        """
        if stretch is None or self._torn is not None or self.one_by_one or not self._counted.can_follow(found.first):
            return False
        if not self._order.follow(stretch):
            return False
        self._counted.follow(found.first, found.told)
        self._take().join(found.columns)
        self._history.nemesis += found.nemesis
        self.number += found.lines
        return True

    @property
    def one_by_one(self) -> bool:
        """Whether operations are wanted one by one: there is a trace, or a share group, whose operations no column holds."""
        return bool(self._history.trace) or "share_group" in self._history.meta

    @property
    def operations(self) -> int:
        """How many halves of operations there are."""
        return len(self._history.ops) + (0 if self._builder is None else len(self._builder))

    def end(self, *, allow_torn_tail: bool = False) -> History:
        """The history.

        Raises:
            HistoryFormatError: The lines contradict each other, or the last was cut off and must not be.
        """
        history, torn = self._history, self._torn
        if torn is not None and not allow_torn_tail:
            raise torn
        history.cut_off, history.gaps = self._counted.cut_off(torn=torn is not None), self._counted.gaps
        if self._order.broken is not None and not history.gaps:
            raise HistoryFormatError(*self._order.broken)
        if self._builder is not None:
            if history.trace:  # who replays logs needs the operations themselves
                from tidemark.checkers.history.columns.rows_back import ops_of

                history.ops[:0] = ops_of(self._builder.columns(named=False))
            else:
                history.columns = self._take().columns().in_time()
        self._order.sort(history)
        return history

    def _take(self) -> ColumnsBuilder:
        """Put a long history's operations into columns, unless it has a trace."""
        if self._builder is None:
            from tidemark.checkers.history.columns.builder import ColumnsBuilder

            self._builder = ColumnsBuilder()
        if not self._history.trace:
            for op in self._history.ops:
                self._builder.add(op)
            self._history.ops.clear()
        return self._builder


class NotJsonError(ValueError):
    """A line is no JSON; says why."""


def entry_of(line: str | bytes, number: int) -> dict[str, Any]:
    """The object in a line, which is the `number`-th of its file.

    Raises:
        NotJsonError, ShapeError: There is none.
    """
    try:
        text = line.decode() if isinstance(line, bytes) else line
        entry = _whole(decoded(text.removeprefix("\ufeff") if number == 1 else text), text)
    except json.JSONDecodeError as error:
        raise NotJsonError(f"this is not JSON ({error.msg} at column {error.colno})") from None
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise NotJsonError(f"this is not UTF-8 (byte 0x{byte:02x} at column {error.start + 1})") from None
    except RecursionError:
        raise ShapeError(f"arrays and objects are nested more than {DEEPEST} deep") from None
    except ValueError as error:
        raise ShapeError(f"this is not JSON ({error})") from None
    if not isinstance(entry, dict):
        raise ShapeError("every line must be a JSON object")
    return entry


def _whole(entry: Json, text: str) -> Json:
    """`entry`, unless it has half a character: an escape of a surrogate that stands alone cannot be written again."""
    if "\\u" in text:
        try:
            _encode(entry).encode()
        except UnicodeEncodeError:
            raise ValueError("an escape stands for half a character") from None
    return entry


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number")


def _finite(word: str) -> float:
    number = float(word)
    if not isfinite(number):
        raise ValueError(f"{word} is a larger number than can be kept")
    return number


decoded = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite).decode
"""What a text of JSON says; a number that is none, or too large, is refused with a `ValueError`."""


def _add(history: History, entry: dict[str, Any], number: int, order: EntryOrder, *, of_logs: bool) -> None:
    kind = entry.pop("kind", None)
    if kind == "op":
        op = plain_op(entry) or op_of(entry, of_logs=of_logs)
        history.ops.append(op)
        order.op(number, op)
    elif kind == "trace":
        event = trace_event_of(entry)
        history.trace.append(event)
        order.event(number, event)
    elif kind == "nemesis":
        history.nemesis.append(nemesis_of(entry))
    elif kind == "meta":
        if number != 1:
            raise ShapeError("the meta line must be the first line")
        history.meta = meta_of(entry)
    else:
        raise ShapeError(f'"kind" must be meta, op, nemesis or trace, and is {shown(kind)}')
