"""`internal` and `future-read`: reads that contradict what their own transaction did.

`internal` is a read that does not show what its transaction read or wrote last of the key (axiom INT of A. Cerone, G. Bernardi,
A. Gotsman, 2015): of a list all that it knew, and its own appends behind it. `future-read` shows what the transaction wrote only
later. A list that was never written and an empty one are the same.
"""

from __future__ import annotations

from typing import NamedTuple

Answer = int | list[int]
"""The version of a register, or the elements of a list, as versions."""


class Contradiction(NamedTuple):
    """In a transaction, at a micro-operation (from 0).

    Attributes:
        name: of the anomaly.
        expected: what had to be read, of `internal`; of a list perhaps only its end, if it was not known before.
    """

    transaction: int
    place: int
    name: str
    expected: Answer


class Within:
    """What a transaction must see of the keys that it has touched."""

    __slots__ = ("_expected", "_from_the_start", "_lists", "_reads")

    def __init__(self, *, lists: bool) -> None:
        self._lists = lists
        self._expected: dict[int, Answer] = {}
        self._from_the_start: set[int] = set()
        self._reads: dict[int, list[Answer]] = {}

    def write(self, key: int, version: int) -> tuple[str, Answer] | None:
        """It writes; `future-read` if an earlier read has that already."""
        earlier = self._reads.get(key)
        if not self._lists:
            self._expected[key] = version
        elif key in self._expected:
            self._expected[key] = [*self._known(key), version]
        else:
            self._expected[key] = [version]
        if earlier and any(version in one if isinstance(one, list) else version == one for one in earlier):
            return "future-read", version
        return None

    def read(self, key: int, answer: Answer) -> tuple[str, Answer] | None:
        """It reads; `internal` if that is not what it must see."""
        expected = self._expected.get(key)
        whole = not self._lists or key in self._from_the_start
        self._expected[key] = answer
        self._from_the_start.add(key)
        self._reads.setdefault(key, []).append(answer)
        if expected is None or expected == answer:
            return None
        if not whole and isinstance(answer, list) and isinstance(expected, list):
            return None if answer[-len(expected) :] == expected else ("internal", expected)
        return "internal", expected

    def _known(self, key: int) -> list[int]:
        known = self._expected[key]
        return known if isinstance(known, list) else [known]
