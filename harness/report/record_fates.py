"""What became of every record that was sent: what its producer was told, and whether it was there in the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tidemark.checkers.history.columns.builder import columns_of
from tidemark.checkers.history.columns.columns import FAIL, INFO, INVOKE, OK, READ, SEND, UNKNOWN, Columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tidemark.checkers.history.history import History

MOST_NAMED: Final = 40
"""So many records of a fate are named on a page, or stretches of them."""

TOLD: Final = {OK: "acknowledged", INFO: "in doubt", FAIL: "refused", INVOKE: "without an answer"}
_GRAVITY: Final = {OK: 3, INFO: 1, FAIL: 2, INVOKE: 0}
"""Of several answers the one that says most: an acknowledgement, then a refusal."""
THERE, NOT_THERE, NOT_READ = "there", "not there", "nobody can tell"
USUAL: Final = (("acknowledged", THERE),)
MEANING: Final = {
    ("acknowledged", THERE): "as promised",
    ("acknowledged", NOT_THERE): "lost, or deleted on purpose",
    ("acknowledged", NOT_READ): "the last read did not come to its end",
    ("in doubt", THERE): "written, though its producer got no clear answer",
    ("in doubt", NOT_THERE): "not written, or lost: nothing was promised",
    ("refused", NOT_THERE): "not written, as its producer was told",
    ("refused", THERE): "written, though its producer was told that it was not",
}


class RecordFate(NamedTuple):
    """One record; times in µs, the offset None where nobody told it.

    Attributes:
        told: what its producer was told, of `TOLD`. there: whether the last read returned it.
        error: what the producer was told, if it was no acknowledgement.
    """

    key: str
    value: Any
    offset: int | None
    sent_us: int
    ended_us: int | None
    told: str
    error: str | None
    there: str


@dataclass(frozen=True, slots=True)
class Fate:
    """Records that fared alike, and which these are, where that is not the usual fate."""

    told: str
    there: str
    count: int
    named: str

    @property
    def meaning(self) -> str:
        """In words."""
        return MEANING.get((self.told, self.there), "nothing was promised")


def fates_of(history: History) -> list[RecordFate]:
    """Of every record, in the order of sending; nothing if there was no final read of anything."""
    columns = columns_of(history.ops) if history.columns is None else history.columns
    return list(_fates(columns, whole=history.meta.get("read_back") is not False))


def _fates(columns: Columns, *, whole: bool) -> Iterator[RecordFate]:
    half = columns.row_half
    final = (columns.final[half] != 0) & (columns.type[half] == OK)
    reads = final & (columns.row_kind == READ)
    if not (columns.final != 0).any():
        return
    seen = dict(
        zip(
            zip(columns.row_key[reads].tolist(), columns.row_value[reads].tolist(), strict=True),
            columns.row_offset[reads].tolist(),
            strict=True,
        )
    )
    sends = np.flatnonzero(columns.row_kind == SEND)
    first: dict[tuple[int, int], int] = {}
    best: dict[tuple[int, int], int] = {}
    for row, key, value in zip(
        sends.tolist(), columns.row_key[sends].tolist(), columns.row_value[sends].tolist(), strict=True
    ):
        first.setdefault((key, value), row)
        before = best.get((key, value))
        if before is None or _GRAVITY[int(columns.type[half[row]])] > _GRAVITY[int(columns.type[half[before]])]:
            best[key, value] = row
    for which, row in first.items():
        last = best[which]
        ended = int(columns.type[half[last]])
        offset = int(columns.row_offset[last])
        told_offset = offset if ended == OK and offset > UNKNOWN else seen.get(which)
        yield RecordFate(
            columns.keys[which[0]],
            columns.value(which[1]),
            told_offset,
            int(columns.time[half[row]]),
            None if ended == INVOKE else int(columns.time[half[last]]),
            TOLD[ended],
            columns.errors[columns.error[half[last]]],
            THERE if which in seen else NOT_THERE if whole else NOT_READ,
        )


def counted(fates: Sequence[RecordFate]) -> list[Fate]:
    """How many records fared how, and which those are that did not fare as usual; the usual fate first."""
    groups: dict[tuple[str, str], list[RecordFate]] = {}
    for one in fates:
        groups.setdefault((one.told, one.there), []).append(one)
    order = list(MEANING)
    ordered = sorted(groups, key=lambda kind: (order.index(kind) if kind in order else len(order), kind))
    return [Fate(*kind, len(groups[kind]), "" if kind in USUAL else _named(groups[kind])) for kind in ordered]


def _named(records: Sequence[RecordFate]) -> str:
    """Which records, those that follow each other as a stretch."""
    stretches: list[tuple[str, Any, Any]] = []
    for one in records:
        key, begin, end = stretches[-1] if stretches else ("", None, None)
        follows = isinstance(one.value, int) and isinstance(end, int) and one.value == end + 1
        if one.key == key and follows:
            stretches[-1] = (key, begin, one.value)
        else:
            stretches.append((one.key, one.value, one.value))
    told = [f"{begin}–{end} of {key}" if begin != end else f"{begin} of {key}" for key, begin, end in stretches]
    more = len(told) - MOST_NAMED
    return ", ".join(told[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
