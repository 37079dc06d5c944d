"""Records by name: a script says ``m1`` or ``a11..a20``, the history says integers, and people read names again.

A name is letters and an optional number. ``a11..a20`` stands for the ten names from ``a11`` to ``a20``; in the scripts the
number is often the offset where the record is first written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tidemark.nodes.families.raft.configurations import members_of

LogRecord = tuple[int, str]
"""``(leader epoch, name)``; the offset is the place in the sequence."""

_NAME = re.compile(r"([A-Za-z]+)(\d*)")
_RANGE = re.compile(r"([A-Za-z]+)(\d+)\.\.([A-Za-z]+)(\d+)")

NO_OP = "noop"
"""What a leader writes of its own when it begins, in families where it does (docs/families/raft.md)."""


MEMBERS = "members"
"""An entry of a leader's own that says who belongs to its group."""


class Names:
    """Numbers for the names of one script, in the order in which they first appear, from 1 on."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._names: list[str] = []

    def number(self, name: str) -> int:
        """The value that stands for a record in the history."""
        found = self._numbers.get(name)
        if found is None:
            self._names.append(name)
            found = self._numbers[name] = len(self._names)
        return found

    def knows(self, name: str) -> bool:
        """Whether the script wrote a record of this name so far."""
        return name in self._numbers or name in (NO_OP, MEMBERS)

    def name(self, number: object) -> str:
        """The reverse; a value that no script wrote keeps its digits, and a leader's own entry is `NO_OP` or `MEMBERS`."""
        if isinstance(number, int) and number < 0:
            return MEMBERS if members_of(number) else NO_OP
        return self._names[number - 1] if isinstance(number, int) and 0 < number <= len(self._names) else str(number)


MOST = 100_000
"""So many records may a range stand for."""


def expand(text: str) -> tuple[str, ...]:
    """The names that ``m1``, or the range ``a11..a20``, stands for.

    Raises:
        ValueError: it is neither; the message is one sentence.
    """
    if _NAME.fullmatch(text):
        return (text,)
    match = _RANGE.fullmatch(text)
    if match is None or match[1] != match[3] or int(match[2]) > int(match[4]):
        raise ValueError(f"{text!r} is neither a record name like m1 nor a range like a11..a20")
    first, last = int(match[2]), int(match[4])
    if last - first >= MOST:
        raise ValueError(f"{text!r} stands for more than {MOST} records")
    return tuple(f"{match[1]}{n}" for n in range(first, last + 1))


def expand_list(text: str) -> tuple[str, ...]:
    """The names in ``m1, m2, a0..a10``.

    Raises:
        ValueError: see `expand`.
    """
    return tuple(name for part in text.replace(",", " ").split() for name in expand(part))


def parse_batches(text: str) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """Batches as ``(leader epoch, names)`` from ``1:a0..a10 3:c21 3:c22``; ``empty`` is an empty log.

    Raises:
        ValueError: with one sentence.
    """
    if text.strip() == "empty":
        return ()
    batches = []
    for token in text.split():
        epoch, colon, names = token.partition(":")
        if not colon or not epoch.isdigit():
            raise ValueError(f"{token!r} is not EPOCH:RECORD, like 1:m1 or 1:a0..a10")
        batches.append((int(epoch), expand(names)))
    return tuple(batches)


def flatten(batches: Iterable[tuple[int, Sequence[str]]]) -> tuple[LogRecord, ...]:
    """One entry per record."""
    return tuple((epoch, name) for epoch, names in batches for name in names)


def compact(records: Sequence[LogRecord], *, mark: int = -1, sign: str = "│") -> str:
    """The shortest notation of a log, the one the scripts use; with a `sign` before offset `mark`, if that is asked for.

    >>> compact([(1, "a0"), (1, "a1"), (1, "a2"), (2, "m")], mark=2)
    '1:a0..a1 │ 1:a2 2:m'
    """
    words: list[str] = []
    start = 0
    while start < len(records):
        if start == mark:
            words.append(sign)
        end = start + 1
        while end < len(records) and end != mark and _continues(records[end - 1], records[end]):
            end += 1
        epoch, first = records[start]
        words.append(f"{epoch}:{first}" if end == start + 1 else f"{epoch}:{first}..{records[end - 1][1]}")
        start = end
    if mark == len(records):
        words.append(sign)
    return " ".join(words) if records else " ".join([*words, "empty"])


def _continues(before: LogRecord, after: LogRecord) -> bool:
    one, two = _NAME.fullmatch(before[1]), _NAME.fullmatch(after[1])
    if one is None or two is None or before[0] != after[0] or one[1] != two[1] or not one[2] or not two[2]:
        return False
    return int(two[2]) == int(one[2]) + 1
