"""Some thousand JSON lines of operations read at once, by typed decoding (msgspec), into columns.

Half of them as they are found in most files, the rest by the reader of single lines; of a block in which anything is wrong, or is
no operation, nothing is said here, and that reader looks at all of it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from tidemark.checkers.history.columns.at_once import Dialect, Halves, Odd, UnusualError, columns_at_once
from tidemark.checkers.history.columns.columns import FIRST_NUMBERED, INVOKE, SEND, Columns, Ints
from tidemark.checkers.history.entry_order import Half, Sends, Stretch
from tidemark.checkers.history.history import NemesisOp, Op
from tidemark.checkers.history.history_file import LinesAtOnce, NotJsonError, entry_of
from tidemark.checkers.history.line_shapes import ShapeError, nemesis_of, op_of

LOGS: Final = frozenset({"send", "poll", "txn"})
_MAY_BE_NULL: Final = "poll"
MOST_OTHERS: Final = 16
"""So many fields that nobody knows may lines have, and still be read at once."""
_FIELDS: Final = (
    ("kind", Literal["op"]),
    ("time", int),
    ("process", str | int),
    ("type", Literal["invoke", "ok", "fail", "info"]),
    ("f", str),
    ("value", Any),
    ("line", int | None, None),
    ("error", str | None, None),
    ("acks", str | None, None),
    ("final", bool | None, None),
)
_NOT_DECODED: Final = (msgspec.MsgspecError, ValueError, RecursionError)
_KNOWN: Final = frozenset(field[0] for field in _FIELDS)


def _answers(polls: list[list[Any]]) -> list[dict[Any, Any]]:
    if not set(map(len, polls)) <= {2}:
        raise UnusualError
    answers = [poll[1] for poll in polls]
    if not set(map(type, answers)) <= {dict}:
        raise UnusualError
    return answers


def _same(one: Any) -> Any:  # noqa: ANN401 - whatever JSON has there
    return one


_JSON: Final = Dialect(
    send="send",
    poll="poll",
    keys=frozenset({str}),
    key=_same,
    value=_same,
    values=frozenset({int, str, float, bool, type(None)}),
    least_read=0,
    nil_read=False,
    answers=_answers,
)


class LinesReader:
    """Reads blocks of one file."""

    def __init__(self) -> None:
        self._others: frozenset[str] = frozenset()

    def read(self, block: bytes, number: int) -> LinesAtOnce | None:
        """What a block of whole lines holds, of which the first is the `number`-th of its file; None if there is something that
        takes a reader of single lines: anything wrong, or neither an operation of a client nor one of the nemesis.
        """
        try:
            return self._read(block, number)
        except (UnusualError, NotJsonError, ShapeError):
            return None

    def _read(self, block: bytes, number: int) -> LinesAtOnce:
        many = block.count(b"\n") + (block[-1:] != b"\n")
        halves = self._all(block, many)
        if halves is not None:
            return _together(halves, range(number, number + many), {}, [], [half.line for half in halves], many)
        lines = [(place, line) for place, line in enumerate(block.split(b"\n"), number) if line.strip()]
        halves, numbers = [], []
        places: list[int] = []
        odd: dict[int, Odd] = {}
        nemesis: list[NemesisOp] = []
        decode = _decoder(self._others).decode
        for place, line in lines:
            try:
                half = decode(line)
            except _NOT_DECODED:
                entry = entry_of(line, place)
                if entry.pop("kind", None) == "nemesis":
                    numbers.append(entry.pop("line", None))
                    nemesis.append(nemesis_of(entry))
                    continue
                half = None
            if half is None or half.f not in LOGS:
                entry = entry_of(line, place)
                if entry.pop("kind", None) != "op":
                    raise UnusualError from None
                told = entry.pop("line", None)
                op = op_of(entry)
                odd[len(halves)] = Odd(op)
                half = _Half(told, op)
            numbers.append(half.line)
            places.append(place)
            halves.append(half)
        return _together(halves, places, odd, nemesis, numbers, many)

    def _all(self, block: bytes, many: int) -> list[Any] | None:
        """The lines' objects, if all so many are halves of sends, polls and transactions, each in a line of its own."""
        if block.count(b"}\n{") != many - 1 or block[:1] != b"{" or block.rstrip(b"\n")[-1:] != b"}":
            return None
        halves = self._decoded(block)
        if halves is None or len(halves) != many or not {half.f for half in halves} <= LOGS:
            return None
        return halves

    def _decoded(self, block: bytes) -> list[Any] | None:
        try:
            return _decoder(self._others).decode_lines(block)
        except _NOT_DECODED:
            pass
        try:
            entry = json.loads(block[: block.find(b"\n")])
        except (ValueError, RecursionError):
            return None
        others = self._others | (entry.keys() - _KNOWN) if isinstance(entry, dict) else self._others
        if others == self._others or len(others) > MOST_OTHERS:
            return None
        self._others = others
        return self._decoded(block)


class _Half:
    """Half an operation that was read by itself."""

    __slots__ = ("acks", "error", "f", "final", "line", "process", "time", "type", "value")

    def __init__(self, line: Any, op: Op) -> None:  # noqa: ANN401 - whatever the line says
        self.line, self.value = line, None
        self.time, self.process, self.type, self.f = op.time, op.process, op.type, op.f
        self.error, self.acks, self.final = op.error, op.acks, op.final


@lru_cache(maxsize=MOST_OTHERS)
def _decoder(others: frozenset[str]) -> msgspec.json.Decoder[Any]:
    """A decoder of lines that may have some other fields. What it does not expect, it refuses."""
    fields: list[Any] = [*_FIELDS, *((f"other_{number}", Any, None) for number, _ in enumerate(sorted(others)))]
    names = {f"other_{number}": name for number, name in enumerate(sorted(others))}
    shape = msgspec.defstruct("Half", fields, rename=names, forbid_unknown_fields=True, gc=False)
    return msgspec.json.Decoder(shape)


def _together(
    found: list[Any],
    places: Sequence[int],
    odd: dict[int, Odd],
    nemesis: list[NemesisOp],
    numbers: list[Any],
    lines: int,
) -> LinesAtOnce:
    first = numbers[0] if numbers else None
    if first is None:
        if set(map(type, numbers)) - {type(None)}:
            raise UnusualError
    elif set(map(type, numbers)) != {int} or numbers != list(range(first, first + len(numbers))):
        raise UnusualError
    values = [half.value for half in found]
    if None in values and any(
        half.value is None and half.f != _MAY_BE_NULL and number not in odd for number, half in enumerate(found)
    ):
        raise UnusualError
    halves = Halves(
        [half.time for half in found],
        [half.process for half in found],
        [half.type for half in found],
        [half.f for half in found],
        values,
        [half.error for half in found],
        [half.acks for half in found],
        [half.final for half in found],
    )
    columns = columns_at_once(halves, odd, _JSON)
    return LinesAtOnce(columns, stretch_of(columns, places), nemesis, first, len(numbers), lines)


def stretch_of(columns: Columns, places: Sequence[int]) -> Stretch:
    """What each process did first and last in some lines, after each other.

    Raises:
        UnusualError: One contradicts itself in between.
    """
    order = np.argsort(columns.process, kind="stable")
    process, time, f = columns.process[order], columns.time[order], columns.f[order]
    invoked = columns.type[order] == INVOKE
    same: NDArray[np.bool_] = process[1:] == process[:-1]
    ended = same & ~invoked[1:]
    if (
        (same & (time[1:] < time[:-1])).any()
        or (same & (invoked[1:] == invoked[:-1])).any()
        or (ended & (f[1:] != f[:-1])).any()
    ):
        raise UnusualError
    _refuse_other_sends(columns, order[:-1][ended], order[1:][ended])
    begins = np.flatnonzero(np.concatenate([[True], ~same])) if len(process) else np.zeros(0, np.int64)
    ends = np.concatenate([begins[1:], [len(process)]]) - 1

    def half(place: np.intp) -> Half:
        return Half(
            int(time[place]),
            bool(invoked[place]),
            columns.fs[f[place]],
            places[int(order[place])],
            _sends(columns, int(order[place])),
        )

    return {
        columns.processes[process[begin]]: (half(begin), half(end)) for begin, end in zip(begins, ends, strict=False)
    }


def _refuse_other_sends(columns: Columns, invoked: Ints, completed: Ints) -> None:
    """Of pairs of halves: a completion sends what was invoked, if the invocation tells.

    Raises:
        UnusualError: One may not.
    """
    rows = np.flatnonzero(columns.row_kind == SEND)
    counts = np.bincount(columns.row_half[rows], minlength=len(columns))
    tells = counts[invoked] > 0
    invoked, completed = invoked[tells], completed[tells]
    if (counts[invoked] != counts[completed]).any():
        raise UnusualError
    begins = np.cumsum(counts) - counts
    size = counts[invoked]
    within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    asked, done = rows[np.repeat(begins[invoked], size) + within], rows[np.repeat(begins[completed], size) + within]
    for column in (columns.row_key, columns.row_value):
        if (column[asked] != column[done]).any():
            raise UnusualError


def _sends(columns: Columns, half: int) -> Sends:
    """What one half sends, as `sends_of` its operation."""
    begin, end = np.searchsorted(columns.row_half, (half, half + 1))
    found = []
    for row in range(begin, end):
        if columns.row_kind[row] == SEND:
            number = int(columns.row_value[row])
            value = number if number < FIRST_NUMBERED else columns.values[number - FIRST_NUMBERED]
            found.append((columns.keys[columns.row_key[row]], value.__class__, value))
    return tuple(found)
