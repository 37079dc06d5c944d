"""Columns, filled one operation at a time: of an operation nothing is kept but its numbers, and a name for each key and value.

An integer and a string are their own name. Whatever else a value is (null, true, 1.5, a `Word` of EDN) is known by its text; a
string that reads the same stands in quotes then, so that two that differ have two names.

>>> columns_of([Op(1, "p", "ok", "send", [("send", "t-0", (0, None)), ("send", "t-0", (1, "null"))])]).values
['null', '"null"']
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tidemark.checkers.history.columns.columns import (
    ACKS,
    DELETION,
    FIRST_NUMBERED,
    KEPT,
    KNOWN_FS,
    NOTHING,
    READ,
    REBALANCED,
    SEND,
    TYPES,
    UNKNOWN,
    Columns,
    Value,
)
from tidemark.checkers.history.history import Op

TYPE_NUMBER = {name: number for number, name in enumerate(TYPES)}
ACKS_NUMBER: dict[str | None, int] = {name: number for number, name in enumerate(ACKS)}


def columns_of(ops: Iterable[Op]) -> Columns:
    """The columns of a list of operations."""
    builder = ColumnsBuilder()
    for op in ops:
        builder.add(op)
    return builder.columns()


class Word(NamedTuple):
    """A key or a value of EDN that is neither integer nor string."""

    text: str


def _named(found: list[Any]) -> list[Any]:
    texts = [None if type(one) is str or type(one) is int else _text(one) for one in found]
    taken = {text for text in texts if text is not None}.intersection(one for one in found if type(one) is str)
    if taken:  # then what has quotes of its own gets some more
        found = [
            json.dumps(one, ensure_ascii=False) if type(one) is str and (one in taken or one[:1] == '"') else one
            for one in found
        ]
    return [one if text is None else text for one, text in zip(found, texts, strict=True)]


def _text(one: object) -> str:
    return one.text if isinstance(one, Word) else json.dumps(one)


class Numbers(dict[Any, int]):
    """What was seen → its number, in order of appearance."""

    def __missing__(self, name: object) -> int:
        self[name] = number = len(self)
        return number


class ColumnsBuilder:
    """Takes operations in the order of the history."""

    def __init__(self) -> None:
        self._time = array("q")
        self._time_ns = array("h")
        self._process = array("i")
        self._type = array("b")
        self._f = array("i")
        self._acks = array("b")
        self._error = array("i")
        self._final = array("b")
        self._half = array("q")
        self._kind = array("b")
        self._key = array("i")
        self._offset = array("q")
        self._value = array("q")
        self._keys, self._processes, self._errors, self._values = Numbers(), Numbers(), Numbers(), Numbers()
        self._errors[None] = 0
        self._fs = Numbers({name: number for number, name in enumerate(KNOWN_FS)})

    def __len__(self) -> int:
        return len(self._time)

    def add(self, op: Op, rebalanced: Sequence[str] = (), ns: int = 0) -> None:
        """One half of an operation; `rebalanced` are the keys that were assigned anew while it lasted, `ns` is what its time in µs
        leaves out.
        """
        time, process, type_, f, value, error, acks, final = op
        half = len(self._time)
        self._time.append(time)
        self._time_ns.append(ns)
        self._process.append(self._processes[process])
        self._type.append(TYPE_NUMBER[type_])
        self._f.append(self._fs[f])
        self._acks.append(ACKS_NUMBER.get(acks, 0))
        self._error.append(self._errors[error])
        self._final.append(final)
        if f in ("send", "poll", "txn"):
            halves, kinds, keys, offsets, values = self._half, self._kind, self._key, self._offset, self._value
            for micro in value or ():
                if micro[0] == "send":
                    what = micro[2]
                    offset, sent = what if what.__class__ is tuple else (None, what)
                    if sent.__class__ is not int or not -FIRST_NUMBERED < sent < FIRST_NUMBERED:
                        sent = self._number(sent)
                    halves.append(half)
                    kinds.append(SEND)
                    keys.append(self._keys[micro[1]])
                    offsets.append(UNKNOWN if offset is None or offset < 0 else offset)
                    values.append(sent)
                elif type_ != "invoke":
                    self._poll(half, micro[1])
        elif f in ("assign", "subscribe"):
            for key in value or ():
                self._row(half, KEPT, key)
        elif f == "delete":
            for _, key, offset in value if len(value) == 1 else ():  # else of a key and not of records
                self._row(half, DELETION, key, offset)
        for key in rebalanced:
            self._row(half, REBALANCED, key)

    def _poll(self, half: int, answer: dict[str, Sequence[tuple[int | None, Value]]]) -> None:
        for key, records in answer.items():
            number = self._keys[key]
            for offset, value in records:
                if value.__class__ is not int or not -FIRST_NUMBERED < value < FIRST_NUMBERED:
                    value = self._number(value)  # noqa: PLW2901 - this loop is the longest of all
                self._offset.append(UNKNOWN if offset is None else offset)
                self._value.append(value)
            self._half.extend(repeat(half, len(records)))
            self._kind.extend(repeat(READ, len(records)))
            self._key.extend(repeat(number, len(records)))
            if not records:
                self._row(half, NOTHING, key)

    def _row(self, half: int, kind: int, key: str, offset: int = UNKNOWN) -> None:
        """A row without a value."""
        self._half.append(half)
        self._kind.append(kind)
        self._key.append(self._keys[key])
        self._offset.append(offset)
        self._value.append(0)

    def _number(self, value: Value) -> int:
        return FIRST_NUMBERED + self._values[value.__class__, value]

    def join(self, columns: Columns) -> None:
        """All of some columns whose names are those that their operations have (`columns` with `named` false)."""
        half = len(self._time)
        value = columns.row_value
        if columns.values:
            value = value.copy()
            many = value >= FIRST_NUMBERED
            pairs = [(one.__class__, one) for one in columns.values]
            value[many] = FIRST_NUMBERED + _renumbered(value[many] - FIRST_NUMBERED, pairs, self._values)
        for mine, theirs in (
            (self._time, columns.time),
            (self._time_ns, columns.time_ns),
            (self._process, _renumbered(columns.process, columns.processes, self._processes)),
            (self._type, columns.type),
            (self._f, _renumbered(columns.f, columns.fs, self._fs)),
            (self._acks, columns.acks),
            (self._error, _renumbered(columns.error, columns.errors, self._errors)),
            (self._final, columns.final),
            (self._half, columns.row_half + half),
            (self._kind, columns.row_kind),
            (self._key, _renumbered(columns.row_key, columns.keys, self._keys)),
            (self._offset, columns.row_offset),
            (self._value, value),
        ):
            mine.frombytes(np.ascontiguousarray(theirs, mine.typecode).data.cast("B"))

    def columns(self, *, named: bool = True) -> Columns:
        """All that was added; nothing can be added after that. Without being `named`, keys and values are as they were added."""
        keys, values = list(self._keys), [value for _, value in self._values]
        return Columns(
            time=np.frombuffer(self._time, np.int64),
            time_ns=np.frombuffer(self._time_ns, np.int16),
            process=np.frombuffer(self._process, np.int32),
            type=np.frombuffer(self._type, np.int8),
            f=np.frombuffer(self._f, np.int32),
            acks=np.frombuffer(self._acks, np.int8),
            error=np.frombuffer(self._error, np.int32),
            final=np.frombuffer(self._final, np.int8),
            row_half=np.frombuffer(self._half, np.int64),
            row_kind=np.frombuffer(self._kind, np.int8),
            row_key=np.frombuffer(self._key, np.int32),
            row_offset=np.frombuffer(self._offset, np.int64),
            row_value=np.frombuffer(self._value, np.int64),
            keys=_named(keys) if named else keys,
            processes=list(self._processes),
            values=_named(values) if named else values,
            errors=list(self._errors),
            fs=list(self._fs),
        )


def _renumbered(numbers: NDArray[Any], names: list[Any], known: Numbers) -> NDArray[Any]:
    """Numbers of some names as those that `known` has for them, which gets what is new."""
    table = np.array([known[name] for name in names], np.int64)
    return table[numbers] if len(table) else numbers
