"""The transactions of a history as columns of numbers: who did what, which writes and which reads there are.

A transaction is a list of micro-operations: ``["append", key, element]`` or ``["w", key, value]``, and ``["r", key, answer]``, in
which the answer is a list of elements, or a value, or null where nothing was written yet. What a transaction wrote is told by its
invocation or its completion; what it read counts if it is ok, since nobody promised anything about the reads of one that may have
been aborted. An operation that never completed may have happened, as one that is `info`.

A *version* is a key and what was written to it, whoever wrote it. Memory: some 40 bytes for each micro-operation, and 4 for each
element that was read.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tidemark.checkers.history.columns.columns import Bits, Ints
from tidemark.checkers.history.history import Op
from tidemark.checkers.objects.transactions.internal import Contradiction, Within
from tidemark.checkers.objects.values import identity
from tidemark.checkers.objects.workloads.halves import FAIL, INVOKE, OK, clients

NEVER = -1
NIL = -1
"""The version that a key has before anything was written."""
IS_OK, IS_INFO, IS_FAIL = 0, 1, 2
_OUTCOMES = {OK: IS_OK, FAIL: IS_FAIL}
_PLAIN = frozenset({int, str})
_NOTHING: tuple[Any, ...] = ()


@dataclass
class Transactions:
    """All transactions, numbered in the order in which they ended; those that never did are the last.

    Attributes:
        halves: of clients.
        begin, end: the halves of each transaction, `NEVER` if there is none. One of them there is.
        process: whose it is.
        outcome: `IS_OK`, `IS_INFO` or `IS_FAIL`.
        keys, values: a key by its number, a version's value by the version.
        version_key: by version.
        write_of, wrote, is_final: of each write its transaction, its version, and whether the transaction wrote the key no more.
        read_of, read_key: of each read of a transaction that is ok, and its key.
        first: whether the transaction had neither read nor written the key before that read.
        starts: of registers the version that was read; of lists where a read's elements begin in `elements`, and the end of the
        last. updates: reads after which their transaction wrote the key, having written it never before; one of each key.
        contradictions: reads that contradict what their own transaction did.
    """

    halves: Sequence[Op]
    begin: Ints
    end: Ints
    process: Ints
    outcome: Ints
    keys: list[Any]
    values: list[Any]
    version_key: Ints
    write_of: Ints
    wrote: Ints
    is_final: Bits
    read_of: Ints
    read_key: Ints
    first: Bits
    starts: Ints
    elements: Ints
    updates: Ints
    contradictions: list[Contradiction] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.begin)

    @property
    def ok(self) -> Bits:
        """Those that certainly happened."""
        found: Bits = self.outcome == IS_OK
        return found

    @property
    def first_half(self) -> Ints:
        """The first half of each."""
        return np.where(self.begin == NEVER, self.end, self.begin)


def transactions(ops: Sequence[Op], *, lists: bool) -> Transactions:
    """The transactions of clients; of `lists` to which elements are appended, or of registers.

    Raises:
        ValueError: an operation is no such transaction.
    """
    halves = clients(ops)
    reading = _Reading(halves, lists=lists)
    open_: dict[Any, int] = {}
    for index, half in enumerate(halves):
        if half.type == INVOKE:
            if half.process in open_:
                raise ValueError(
                    f"operation {index}: process {half.process} invokes a transaction while another (operation "
                    f"{open_[half.process]}) is open"
                )
            open_[half.process] = index
        else:
            reading.add(open_.pop(half.process, NEVER), index)
    for index in open_.values():
        reading.add(index, NEVER)
    return reading.columns()


class _Versions(dict[Any, int]):
    """The versions of one key, by their values; a value that was never seen gets a number."""

    __slots__ = ("_all", "_key")

    def __init__(self, key: int, all_: _AllVersions) -> None:
        super().__init__()
        self._key = key
        self._all = all_

    def __missing__(self, value: Any) -> int:  # noqa: ANN401 - an identity
        number = self[value] = len(self._all.values)
        self._all.values.append(value)
        self._all.keys.append(self._key)
        return number


class _AllVersions:
    def __init__(self) -> None:
        self.values: list[Any] = []
        self.keys = array("i")


class _Reading:
    """Takes transactions one by one."""

    def __init__(self, halves: Sequence[Op], *, lists: bool) -> None:
        self._halves = halves
        self._lists = lists
        self._write = "append" if lists else "w"
        self._all = _AllVersions()
        self._keys: dict[Any, int] = {}
        self._names: list[Any] = []
        self._versions: list[_Versions] = []
        self._processes: dict[Any, int] = {}
        self._begin, self._end, self._process, self._outcome = (array("i") for _ in range(4))
        self._write_of, self._wrote, self._is_final = array("i"), array("i"), array("b")
        self._read_of, self._read_key, self._first = array("i"), array("i"), array("b")
        self._starts, self._elements = array("q"), array("i")
        self._updates = array("i")
        self._contradictions: list[Contradiction] = []

    def add(self, begin: int, end: int) -> None:
        """The transaction of two halves."""
        halves = self._halves
        told = halves[end if end != NEVER else begin]
        outcome = IS_INFO if end == NEVER else _OUTCOMES.get(told.type, IS_INFO)
        value = told.value
        if value is None and outcome != IS_OK and begin != NEVER:
            value = halves[begin].value
        number = len(self._begin)
        self._begin.append(begin)
        self._end.append(end)
        self._process.append(self._processes.setdefault(told.process, len(self._processes)))
        self._outcome.append(outcome)
        if not isinstance(value, (list, tuple)) and not (value is None and outcome != IS_OK):
            raise ValueError(
                f"operation {max(begin, end)}: the value of a transaction is a list, and not {value!r:.60}"
            )
        try:
            self._micros(number, value or _NOTHING, reads=outcome == IS_OK)
            if NEVER not in (begin, end) and halves[begin].value and (value or outcome == IS_OK):
                self._agree(halves[begin].value, value)
        except ValueError as error:
            raise ValueError(f"operation {max(begin, end)}: {error}") from None

    def _micros(self, number: int, value: Sequence[Any], *, reads: bool) -> None:
        written: dict[int, int] = {}
        read: dict[int, int] = {}
        within = Within(lists=self._lists)
        for place, micro in enumerate(value):
            f, key, version = self._micro(micro)
            if f == self._write:
                row = len(self._wrote)
                before = written.get(key)
                if before is not None:
                    self._is_final[before] = 0
                elif key in read:
                    self._updates.append(read[key])
                written[key] = row
                wrote = self._versions[key][_identity(version)]
                self._write_of.append(number)
                self._wrote.append(wrote)
                self._is_final.append(1)
                if reads and len(value) > 1:
                    self._note(number, place, within.write(key, wrote))
            elif reads:
                answer = self._answer(key, version)
                first = key not in written and key not in read
                if first:
                    read[key] = len(self._read_of)
                self._read_of.append(number)
                self._read_key.append(key)
                self._first.append(first)
                if isinstance(answer, list):
                    self._starts.append(len(self._elements))
                    self._elements.extend(answer)
                else:
                    self._starts.append(answer)
                if len(value) > 1:
                    self._note(number, place, within.read(key, answer))

    def _agree(self, asked: Any, done: Any) -> None:  # noqa: ANN401 - whatever a history has
        """A transaction does what it was asked to, and only reads are filled in.

        Raises:
            ValueError: it tells of something else.
        """
        if not isinstance(asked, (list, tuple)) or len(asked) != len(done):
            raise ValueError(f"invoked with {asked!r:.60}, and completed with {done!r:.60}")
        for micro, told in zip(asked, done, strict=True):
            if (
                not isinstance(micro, (list, tuple))
                or micro[:2] != told[:2]
                or (told[0] != "r" and micro[2:] != told[2:])
            ):
                raise ValueError(f"invoked with {micro!r:.60}, and completed with {told!r:.60}")

    def _note(self, number: int, place: int, found: tuple[str, Any] | None) -> None:
        if found is not None:
            self._contradictions.append(Contradiction(number, place, *found))

    def _micro(self, micro: Any) -> tuple[str, int, Any]:  # noqa: ANN401 - whatever a history has
        if isinstance(micro, (list, tuple)) and 2 <= len(micro) <= 3:
            f, name, *rest = micro
            if f == "r" or (f == self._write and rest and (self._lists or rest[0] is not None)):
                ident = name if type(name) in _PLAIN else identity(name)
                key = self._keys.get(ident)
                if key is None:
                    key = self._keys[ident] = len(self._names)
                    self._names.append(name)
                    self._versions.append(_Versions(key, self._all))
                return f, key, rest[0] if rest else None
        raise ValueError(
            f'a micro-operation is ["r", key, answer] or ["{self._write}", key, '
            f"{'element' if self._lists else 'value, not null'}], and not {micro!r:.60}"
        )

    def _answer(self, key: int, answer: Any) -> int | list[int]:  # noqa: ANN401 - likewise
        if not self._lists:
            return NIL if answer is None else self._versions[key][_identity(answer)]
        if answer is None:
            return []
        if not isinstance(answer, (list, tuple)):
            raise ValueError(f"a read of a list answers with a list, and not with {answer!r:.60}")  # noqa: TRY004 - of a history
        plain = _PLAIN.issuperset(map(type, answer))
        return list(map(self._versions[key].__getitem__, answer if plain else map(identity, answer)))

    def columns(self) -> Transactions:
        """All that were added."""
        if self._lists:
            self._starts.append(len(self._elements))
        return Transactions(
            self._halves,
            _ints(self._begin),
            _ints(self._end),
            _ints(self._process),
            np.array(self._outcome, np.int8),
            self._names,
            self._all.values,
            _ints(self._all.keys),
            _ints(self._write_of),
            _ints(self._wrote),
            np.array(self._is_final, np.bool_),
            _ints(self._read_of),
            _ints(self._read_key),
            np.array(self._first, np.bool_),
            _ints(self._starts),
            np.frombuffer(self._elements, np.int32) if self._elements else np.empty(0, np.int32),
            _ints(self._updates),
            self._contradictions,
        )


def _identity(value: Any) -> Any:  # noqa: ANN401 - likewise
    return value if type(value) in _PLAIN else identity(value)


def _ints(numbers: array[int]) -> Ints:
    return np.array(numbers, np.int64)
