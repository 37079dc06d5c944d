"""Some thousand JSON lines of operations read at once, by typed decoding (msgspec), into columns.

Half of them as they are found in most files, the rest by the reader of single lines; of a block in which anything is wrong, or is
no operation, nothing is said here, and that reader looks at all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Final, Literal

from tidemark.checkers.history.columns.at_once import Answers, Dialect, Halves, Odd, UnusualError, columns_at_once
from tidemark.checkers.history.history import NemesisOp, Op
from tidemark.checkers.history.history_file import LinesAtOnce, NotJsonError, entry_of
from tidemark.checkers.history.line_shapes import ShapeError, nemesis_of, op_of
from tidemark.checkers.history.typed_lines import NOT_DECODED, TypedLines

_MAY_BE_NULL: Final = "poll"
_FIELDS: Final = (
    ("kind", Literal["op"]),
    ("time", int),
    ("process", str | int),
    ("type", Literal["invoke", "ok", "fail", "info"]),
    ("f", Literal["send", "poll", "txn"]),
    ("value", Any),
    ("line", int | None, None),
    ("error", str | None, None),
    ("acks", str | None, None),
    ("final", bool | None, None),
)


def _answers(polls: list[list[Any]]) -> Answers:
    if not set(map(len, polls)) <= {2}:
        raise UnusualError
    answers = [poll[1] for poll in polls]
    if not set(map(type, answers)) <= {dict}:
        raise UnusualError
    return Answers(
        list(map(len, answers)),
        list(chain.from_iterable(answers)),
        list(chain.from_iterable(map(dict.values, answers))),
    )


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
        self._lines = TypedLines(_FIELDS)

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
        decode = self._lines.decoder.decode
        for place, line in lines:
            try:
                half = decode(line)
            except NOT_DECODED:
                entry = entry_of(line, place)
                kind, told = entry.pop("kind", None), entry.pop("line", None)
                if kind == "nemesis":
                    numbers.append(told)
                    nemesis.append(nemesis_of(entry))
                    continue
                if kind != "op":
                    raise UnusualError from None
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
        halves = self._lines.decoded(block)
        if halves is None or len(halves) != many:
            return None
        return halves


class _Half:
    """Half an operation that was read by itself."""

    __slots__ = ("acks", "error", "f", "final", "line", "process", "time", "type", "value")

    def __init__(self, line: Any, op: Op) -> None:  # noqa: ANN401 - whatever the line says
        self.line, self.value = line, None
        self.time, self.process, self.type, self.f = op.time, op.process, op.type, op.f
        self.error, self.acks, self.final = op.error, op.acks, op.final


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
    return LinesAtOnce(columns, places, nemesis, first, len(numbers), lines)
