"""Some thousand lines of EDN read at once into columns: written as JSON (`json_text`), and decoded by types (msgspec).

Read so are sends, polls and transactions, as Clojure prints them. What any other line holds is read by the reader of all EDN; of a
block in which anything is wrong, or goes on in the next line, nothing is said here, and that reader looks at all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from msgspec import UNSET, UnsetType

from tidemark.checkers.history.columns.at_once import Answers, Dialect, Halves, Odd, UnusualError, columns_at_once
from tidemark.checkers.history.columns.builder import Word
from tidemark.checkers.history.columns.columns import Columns
from tidemark.checkers.history.edn.forms import Form, Keyword
from tidemark.checkers.history.edn.json_text import MAP, NAME, json_text, may_be_text
from tidemark.checkers.history.edn.operations import RECORD, EdnOp, operations
from tidemark.checkers.history.edn.reader import LONGEST, EdnError
from tidemark.checkers.history.edn.writer import written
from tidemark.checkers.history.edn_halves import Names, acks_of, half_of, nemesis_half, rebalanced_of, words_of
from tidemark.checkers.history.jepsen_nemesis import NemesisHalf
from tidemark.checkers.history.typed_lines import NOT_DECODED, TypedLines

_TYPES: Final = {f":{name}": name for name in ("invoke", "ok", "fail", "info")}
_FS: Final = {f":{name}": name for name in ("send", "poll", "txn")}
_NUMBER: Final = int | None | UnsetType
_FIELDS: Final = (
    ("type", Literal[":invoke", ":ok", ":fail", ":info"]),
    ("process", int),
    ("f", Literal[":send", ":poll", ":txn"]),
    ("value", Any, UNSET),
    ("time", _NUMBER, UNSET),
    ("index", _NUMBER, UNSET),
    ("error", Any, UNSET),
    ("acks", Any, UNSET),
    ("final", Any, UNSET),
    ("rebalance_log", Any, UNSET),
)
_NAMES: Final = {field[0]: f":{field[0]}" for field in _FIELDS} | {
    "final": ":final?",
    "rebalance_log": ":rebalance-log",
}
_OPTIONAL: Final = [field[0] for field in _FIELDS if len(field) == 3]
_RECORD: Final = f"#{RECORD}{{".encode()
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_NO_CLIENT: Final = b":process :"
_WRONG: Final = (EdnError, ValueError, TypeError, LookupError, AttributeError, OverflowError)


class EdnLines(NamedTuple):
    """What was read of some lines together.

    Attributes:
        columns: of the clients' operations, names as they are there.
        places: the lines of these.
        nemesis: what it did.
    """

    columns: Columns
    places: Sequence[int]
    nemesis: list[NemesisHalf]


class EdnLinesReader:
    """Reads blocks of one file, or of a part of one, where what was before is not known."""

    def __init__(self, *, part: bool = False) -> None:
        self._part = part
        self._lines = TypedLines(_FIELDS, _NAMES, UNSET)
        self._names = Names()

    def read(self, block: bytes, number: int, latest: int) -> EdnLines | None:
        """What a block of whole lines holds, the first being the `number`-th of its file, with the latest time before it in ns;
        None if it takes a reader of all EDN.
        """
        lines = block.removeprefix(_BYTE_ORDER_MARK) if number == 1 else block
        if len(lines) > LONGEST or lines[:3] == _BYTE_ORDER_MARK:
            return None
        if _RECORD in lines:
            lines = (b"\n" + lines).replace(b"\n" + _RECORD, b"\n{")[1:]
        for way in (self._all, self._one_by_one):
            try:
                return way(lines, number, latest)
            except _WRONG:
                pass
        return None

    def _all(self, lines: bytes, number: int, latest: int) -> EdnLines:
        """If all are halves of sends, polls and transactions."""
        many = lines.count(b"\n") + (lines[-1:] != b"\n")
        if lines.count(b"}\n{") != many - 1 or lines[:1] != b"{" or lines.rstrip(b"\n")[-1:] != b"}":
            raise UnusualError
        text = json_text(lines)
        halves = self._lines.decoded(text)
        if halves is None or len(halves) != many:
            raise UnusualError
        found = _Found(halves, range(number, number + many), text.count(NAME), text.count(MAP))
        return self._together(found, latest)

    def _one_by_one(self, lines: bytes, number: int, latest: int) -> EdnLines:
        numbered = list(enumerate(lines.split(b"\n"), number))
        odd = {place for place, line in numbered if _NO_CLIENT in line or not may_be_text(line)}
        texts = iter(json_text(b"\n".join([line for place, line in numbered if place not in odd])).split(b"\n"))
        found = _Found()
        for place, line in numbered:
            text = b"" if place in odd else next(texts)
            half = self._one(text) if text else None
            if half is not None:
                found.names += text.count(NAME)
                found.maps += text.count(MAP)
                found.add(half, place)
                continue
            for op in operations([line], place):
                if not isinstance(op.process, int):
                    found.others.append((len(found.halves), op))
                    continue
                found.odd[len(found.halves)] = op
                found.add(_ODD, place)
        return self._together(found, latest)

    def _one(self, text: bytes) -> Any:  # noqa: ANN401 - what msgspec makes of it
        """Half an operation, if a line holds one of the usual shape."""
        try:
            half = self._lines.decoder.decode(text)
        except NOT_DECODED:
            return self._one(text) if self._lines.learn(text) else None
        maps = text.count(MAP)
        if half.rebalance_log or (maps and maps != sum(micro[-1].__class__ is dict for micro in half.value or ())):
            return None
        return half

    def _together(self, found: _Found, latest: int) -> EdnLines:
        usual = [half for half in found.halves if half is not _ODD] if found.odd else found.halves
        self._refuse_what_is_there_twice(usual, found.names)
        np.array([half.index for half in usual if half.index.__class__ is int], np.int64)  # larger ones are refused
        if any(half.rebalance_log for half in usual):
            raise UnusualError
        halves: list[Any] = [
            [half.time for half in found.halves],
            [half.process for half in found.halves],
            [_TYPES[half.type] for half in found.halves],
            [_FS[half.f] for half in found.halves],
            [half.value or None for half in found.halves],
            [_words(half.error) for half in found.halves],
            [acks_of(half.acks) for half in found.halves],
            [half.final is True for half in found.halves],
        ]
        odd = {}
        for place, op in found.odd.items():
            odd[place] = Odd(half_of(op, 0, self._names), rebalanced_of(op, self._names))
            for column, one in zip(halves, odd[place].op._replace(value=None), strict=True):
                column[place] = one
            halves[0][place] = op.time
        told = [one if one.__class__ is int else latest for one in halves[0]]
        times = np.maximum(np.maximum.accumulate(np.array(told, np.int64)), latest)
        halves[0] = times // 1000
        answers = _Answers()
        dialect = Dialect(
            send=":send",
            poll=":poll",
            keys=frozenset({str, int}),
            key=_key,
            value=_value,
            values=frozenset({int, str, float, bool, type(None)}),
            least_read=-1,
            nil_read=True,
            answers=answers,
        )
        columns = columns_at_once(Halves(*halves), odd, dialect, (times % 1000).astype(np.int16))
        if answers.maps != found.maps:  # what is in others was not looked at
            raise UnusualError
        nemesis = []
        for place, op in found.others:
            before = int(times[place - 1]) if place else latest
            nemesis += nemesis_half(op, None if self._part else before)
        return EdnLines(columns, found.places, nemesis)

    def _refuse_what_is_there_twice(self, halves: list[Any], names: int) -> None:
        others = len(self._lines.others)
        missing = sum(
            [getattr(half, name) for half in halves].count(UNSET)
            for name in (*_OPTIONAL, *(f"other_{number}" for number in range(others)))
        )
        if len(halves) * (len(_FIELDS) + others) - missing != names:
            raise UnusualError


class _Found:
    """Halves, the lines that they are in, which are odd, what no client did and how many halves were before it; and how many fields
    the usual ones have, and maps in these.
    """

    def __init__(self, halves: Sequence[Any] = (), places: Sequence[int] = (), names: int = 0, maps: int = 0) -> None:
        self.halves, self.places = list(halves), list(places)
        self.odd: dict[int, EdnOp] = {}
        self.others: list[tuple[int, EdnOp]] = []
        self.names, self.maps = names, maps

    def add(self, half: Any, place: int) -> None:  # noqa: ANN401 - what msgspec makes of it
        self.halves.append(half)
        self.places.append(place)


class _Odd:
    """Stands for a half that was read by itself."""

    type, f, process = ":info", ":send", 0
    value = time = error = acks = final = None


_ODD: Final = _Odd()


class _Answers:
    """What polls found, and how many maps there were."""

    def __init__(self) -> None:
        self.maps = 0

    def __call__(self, polls: list[list[Any]]) -> Answers:
        if not set(map(len, polls)) <= {1, 2}:
            raise UnusualError
        told = [poll[1] for poll in polls if len(poll) == 2 and poll[1] is not None]
        if not set(map(type, told)) <= {dict}:
            raise UnusualError
        self.maps = len(told)
        pairs = [one[""] for one in told]
        sizes = [len(one) for one in pairs]
        if any(
            size % 2 or (size > 2 and len(set(one[::2])) != size // 2) for size, one in zip(sizes, pairs, strict=True)
        ):
            raise UnusualError
        of_each = iter(sizes)
        together = list(chain.from_iterable(pairs))
        counts = [next(of_each) // 2 if len(poll) == 2 and poll[1] is not None else 0 for poll in polls]
        return Answers(counts, together[::2], together[1::2])


def _form(told: Any) -> Form:  # noqa: ANN401 - what JSON has there
    if told.__class__ is list:
        return tuple(map(_form, told))
    if told.__class__ is dict:
        raise UnusualError
    return Keyword(told[1:]) if told.__class__ is str and told[:1] == ":" else told


def _words(error: Any) -> str | None:  # noqa: ANN401 - likewise
    return None if error is UNSET else words_of(_form(error))


def _key(key: str | int) -> str | Word:
    return key if key.__class__ is str and key[:1] != ":" else Word(str(key))


def _value(value: Any) -> str | Word:  # noqa: ANN401 - likewise
    return value if value.__class__ is str and value[:1] != ":" else Word(written(_form(value)))
