"""Anomalies that say the same but for numbers: one sentence of them, and how many there are."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tidemark.checkers.verdict.verdict import Anomaly

_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
_LIST: Final = re.compile(r"N(?:, N)+")
_SO_MANY: Final = re.compile(r" \(and [^)]*\)|\bonce\b|\bN times\b")


def without_numbers(sentence: str) -> str:
    """A sentence of a run, as it would be in any other.

    >>> without_numbers("Broker 2 refuses the batch at offset 15 (and 3 more) since 0.250000 s: (1, 2, 3).")
    'Broker N refuses the batch at offset N since N s: (N).'
    """
    found = _LIST.sub("N", _NUMBER.sub("N", _SO_MANY.sub("", sentence)))
    return _SO_MANY.sub("", found)


@dataclass(frozen=True, slots=True)
class Alike:
    """The first of some anomalies that say the same, how many there are, and when the last was, µs."""

    first: Anomaly
    count: int
    last: int


def alike(anomalies: Iterable[Anomaly]) -> list[Alike]:
    """Anomalies of the same name, verdict, clause and sentence but for numbers as one, in the order of the first of each. What sums
    up others that are not listed belongs to the last of its name, verdict and clause before it.
    """
    groups: dict[tuple[str, str, str | None, str], list[Anomaly]] = {}
    last: dict[tuple[str, str, str | None], str] = {}
    for anomaly in anomalies:
        kind = anomaly.name, anomaly.verdict, anomaly.clause
        sums_up = anomaly.sums_up and kind in last
        key = (*kind, last[kind] if sums_up else without_numbers(anomaly.message))
        last[kind] = key[-1]
        groups.setdefault(key, []).append(anomaly)
    return [
        Alike(group[0], sum(one.times for one in group), max(one.time for one in group)) for group in groups.values()
    ]
