"""Some thousand halves of operations made columns together: list by list, and not one operation after the other.

What is looked at is what most lines are: sends and polls whose keys and values are single things. A half of anything else is read
by whoever knows all shapes, and given here as the operation that it is. Where a list holds something else than it should, nothing
is made of any of it, and who reads line by line says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tidemark.checkers.history.columns.builder import ACKS_NUMBER, TYPE_NUMBER, ColumnsBuilder, Numbers
from tidemark.checkers.history.columns.columns import (
    FIRST_NUMBERED,
    INVOKE,
    KNOWN_FS,
    NOTHING,
    READ,
    SEND,
    UNKNOWN,
    Bits,
    Columns,
    Ints,
)
from tidemark.checkers.history.history import Op

_INT64 = 1 << 63


class UnusualError(ValueError):
    """Something that only a reader of single lines can judge."""


class Halves(NamedTuple):
    """Of each half what JSON has there, field by field; all lists are as long. The values of odd ones are None."""

    time: Sequence[int]
    process: Sequence[str | int]
    type: Sequence[str]
    f: Sequence[str]
    value: Sequence[Any]
    error: Sequence[str | None]
    acks: Sequence[str | None]
    final: Sequence[bool | None]


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a format writes what records and keys are.

    Attributes:
        send, poll: the words that begin micro-operations.
        keys: the types that a key may have.
        key: what stands for a key.
        value: what stands for a value that is no integer.
        values: the types that a value may have; what decodes them knows no number that is none, or infinite.
        least_read: the least offset that a poll may return; -1 is one that nobody knows.
        nil_read: whether an offset that a poll returns may be null.
        answers: what some polls found; one has them as the format does.
    """

    send: str
    poll: str
    keys: frozenset[type]
    key: Callable[[Any], Any]
    value: Callable[[Any], Any]
    values: frozenset[type]
    least_read: int
    nil_read: bool
    answers: Callable[[list[list[Any]]], Answers]


class Answers(NamedTuple):
    """Of some polls how many keys each has, and of each key what it is, and the list of its records."""

    sizes: Sequence[int]
    keys: list[Any]
    records: list[Any]


class Odd(NamedTuple):
    """A half that was read by itself, as the columns' builder takes it."""

    op: Op
    rebalanced: Sequence[Any] = ()


class _Rows(NamedTuple):
    """Some rows: the number of the micro-operation that each is of, its half, and what the columns have."""

    place: Ints
    half: Ints
    kind: Ints
    key: Ints
    offset: Ints
    value: Ints


def columns_at_once(
    halves: Halves, odd: Mapping[int, Odd], dialect: Dialect, ns: NDArray[np.int16] | None = None
) -> Columns:
    """The columns of some halves, names as they are there (`ColumnsBuilder.join` takes them).

    Raises:
        UnusualError: There is something else than the dialect's shapes.
    """
    try:
        return _columns(halves, odd, dialect, ns)
    except (TypeError, ValueError, LookupError, OverflowError) as error:
        raise UnusualError from error


def _columns(halves: Halves, odd: Mapping[int, Odd], dialect: Dialect, ns: NDArray[np.int16] | None) -> Columns:
    size = len(halves.time)
    processes, errors = Numbers(), Numbers({None: 0})
    fs = Numbers({name: number for number, name in enumerate(KNOWN_FS)})
    types = np.array(list(map(TYPE_NUMBER.__getitem__, halves.type)), np.int8)
    process = _numbers(processes, halves.process)
    if any(one.__class__ is int and not -_INT64 <= one < _INT64 for one in processes):
        raise UnusualError
    names = _Names(dialect)
    rows = names.rows(types, halves.value, odd)
    return Columns(
        time=np.array(halves.time, np.int64),
        time_ns=np.zeros(size, np.int16) if ns is None else ns,
        process=process,
        type=types,
        f=_numbers(fs, halves.f),
        acks=_one_by_one(halves.acks, lambda one: ACKS_NUMBER.get(one, 0), np.int8),
        error=_one_by_one(halves.error, errors.__getitem__, np.int32),
        final=_one_by_one(halves.final, lambda one: one is True, np.int8),
        row_half=rows.half,
        row_kind=rows.kind.astype(np.int8),
        row_key=rows.key.astype(np.int32),
        row_offset=rows.offset,
        row_value=rows.value,
        keys=names.keys(),
        processes=list(processes),
        values=names.values(),
        errors=list(errors),
        fs=list(fs),
    )


def _numbers(known: Numbers, names: Iterable[Any]) -> NDArray[np.int32]:
    return np.array(list(map(known.__getitem__, names)), np.int32)


def _one_by_one(column: Sequence[Any], number: Callable[[Any], int], kind: type[np.generic]) -> NDArray[Any]:
    """The number of each; mostly all are the same."""
    if column and column.count(column[0]) == len(column):
        return np.full(len(column), number(column[0]), kind)
    return np.array(list(map(number, column)), kind)


def _are(found: Iterable[Any], *kinds: type) -> None:
    if not set(map(type, found)).issubset(kinds):
        raise UnusualError


class _Names:
    """Makes rows, and numbers their keys and values."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._keys, self._values = Numbers(), Numbers()
        self._key_order: Ints = np.zeros(0, np.int64)
        self._value_order: Ints = np.zeros(0, np.int64)

    def keys(self) -> list[Any]:
        """In order of appearance."""
        found = list(self._keys)
        return [found[number] for number in self._key_order]

    def values(self) -> list[Any]:
        """Likewise."""
        found = [value for _, value in self._values]
        return [found[number] for number in self._value_order]

    def rows(self, types: NDArray[np.int8], told: Sequence[Any], odd: Mapping[int, Odd]) -> _Rows:
        """The rows of some halves, in their order."""
        values = [() if one is None else one for one in told]
        _are(values, list, tuple)
        counts = np.array(list(map(len, values)), np.int64)
        micros: list[list[Any]] = list(chain.from_iterable(values))
        _are(micros, list)
        kinds = {self._dialect.send: SEND, self._dialect.poll: READ}
        kind = np.array([kinds[micro[0]] for micro in micros], np.int8)
        half = np.repeat(np.arange(len(values)), counts)
        sends, polls = np.flatnonzero(kind == SEND), np.flatnonzero(kind == READ)
        found = [
            self._sends(list(compress(micros, kind == SEND)), half, sends),
            self._polls(list(compress(micros, kind == READ)), half, polls, types),
        ]
        if odd:
            found.append(self._of_odd(odd, np.cumsum(counts) - counts))
        rows = _Rows(*map(np.concatenate, zip(*found, strict=True)))
        order = np.lexsort((rows.half, rows.place)) if odd else np.argsort(rows.place, kind="stable")
        return self._as_they_appear(_Rows(*(one[order] for one in rows)))

    def _sends(self, micros: list[list[Any]], half: Ints, place: Ints) -> _Rows:
        if not set(map(len, micros)) <= {3}:
            raise UnusualError
        keys = [micro[1] for micro in micros]
        whats = [micro[2] for micro in micros]
        if not set(map(len, [what for what in whats if what.__class__ is list])) <= {2}:
            raise UnusualError
        offsets = self._offsets([what[0] if what.__class__ is list else None for what in whats], UNKNOWN, nil=True)
        values = self._valued([what[1] if what.__class__ is list else what for what in whats])
        return _Rows(place, half[place], np.full(len(place), SEND), self._keyed(keys), offsets, values)

    def _polls(self, micros: list[list[Any]], half: Ints, place: Ints, types: NDArray[np.int8]) -> _Rows:
        answers = self._dialect.answers(micros)
        sizes = np.array(answers.sizes, np.int64)
        if sizes[types[half[place]] == INVOKE].any():  # what an invocation has there is not looked at
            raise UnusualError
        _are(answers.records, list)
        counts = np.array(list(map(len, answers.records)), np.int64)
        records: list[Any] = list(chain.from_iterable(answers.records))
        _are(records, list)
        if not set(map(len, records)) <= {2}:
            raise UnusualError
        repeats = np.maximum(counts, 1)
        is_read: Bits = np.repeat(counts > 0, repeats)
        offset = np.full(len(is_read), UNKNOWN, np.int64)
        value = np.zeros(len(is_read), np.int64)
        dialect = self._dialect
        offset[is_read] = self._offsets([record[0] for record in records], dialect.least_read, nil=dialect.nil_read)
        value[is_read] = self._valued([record[1] for record in records])
        places = np.repeat(np.repeat(place, sizes), repeats)
        kind = np.where(is_read, READ, NOTHING)
        return _Rows(places, half[places], kind, np.repeat(self._keyed(answers.keys), repeats), offset, value)

    def _of_odd(self, odd: Mapping[int, Odd], begins: Ints) -> _Rows:
        """Their rows stand where those of their halves would."""
        builder = ColumnsBuilder()
        for one in odd.values():
            builder.add(one.op, one.rebalanced)
        columns = builder.columns(named=False)
        half = np.array(list(odd), np.int64)[columns.row_half]
        key = np.array([self._keys[key] for key in columns.keys], np.int64)[columns.row_key]
        value = columns.row_value.copy()
        numbered = value >= FIRST_NUMBERED
        numbers = np.array([self._values[one.__class__, one] for one in columns.values], np.int64)
        value[numbered] = FIRST_NUMBERED + numbers[value[numbered] - FIRST_NUMBERED]
        return _Rows(begins[half], half, columns.row_kind.astype(np.int64), key, columns.row_offset, value)

    def _keyed(self, keys: list[Any]) -> Ints:
        _are(keys, *self._dialect.keys)
        local = Numbers()
        numbers = np.array(list(map(local.__getitem__, keys)), np.int64)
        table = np.array([self._keys[self._dialect.key(key)] for key in local], np.int64)
        return table[numbers]

    @staticmethod
    def _offsets(offsets: list[Any], least: int, *, nil: bool) -> Ints:
        kinds = set(map(type, offsets))
        if type(None) in kinds and nil:
            offsets = [UNKNOWN if one is None else one for one in offsets]
            least = UNKNOWN
            kinds.remove(type(None))
        if not kinds <= {int}:
            raise UnusualError
        found = np.array(offsets, np.int64)
        if len(found) and found.min() < least:
            raise UnusualError
        return found

    def _valued(self, values: list[Any]) -> Ints:
        kinds = set(map(type, values))
        if kinds <= {int}:
            try:
                numbers = np.array(values, np.int64)
            except OverflowError:
                pass
            else:
                if not len(numbers) or (numbers.min() > -FIRST_NUMBERED and numbers.max() < FIRST_NUMBERED):
                    return numbers
        if not kinds <= self._dialect.values:
            raise UnusualError
        return np.array([self._number(value) for value in values], np.int64)

    def _number(self, value: Any) -> int:  # noqa: ANN401 - whatever JSON has there
        kind = value.__class__
        if kind is int:
            if -FIRST_NUMBERED < value < FIRST_NUMBERED:
                return int(value)
            if not -_INT64 <= value < 2 * _INT64:
                raise UnusualError
        named = value if kind is int else self._dialect.value(value)
        return FIRST_NUMBERED + self._values[named.__class__, named]

    def _as_they_appear(self, rows: _Rows) -> _Rows:
        """Keys and values numbered as a reader of one line after the other would."""
        key, self._key_order = _ranked(rows.key, len(self._keys))
        value = rows.value
        numbered = value >= FIRST_NUMBERED
        if numbered.any():
            ranked, self._value_order = _ranked(value[numbered] - FIRST_NUMBERED, len(self._values))
            value[numbered] = FIRST_NUMBERED + ranked
        return rows._replace(key=key, value=value)


def _ranked(numbers: Ints, count: int) -> tuple[Ints, Ints]:
    """Numbers given anew by when each is there first, and which old ones these are. What is never there has none."""
    first = np.full(count, len(numbers))
    first[numbers[::-1]] = np.arange(len(numbers))[::-1]
    order = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(numbers))]
    rank = np.zeros(count, np.int64)
    rank[order] = np.arange(len(order))
    return rank[numbers], order
