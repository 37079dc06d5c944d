"""Two elections made one fault: a fast failover elects twice, and one replica may be deaf meanwhile.

Random plans come by a second election, or a replica that misses it, with several faults; `fast-failover` is that in one
(docs/faults.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from tidemark.harness.search.shrink.search import Search
from tidemark.nemesis import Fault
from tidemark.nemesis.kind import Part

PICKS = range(9)
"""Which second leader, and who is deaf: every case, with three replicas."""
MOST = 6
"""Among more faults there would be too many pairs."""


def merged_elections(search: Search) -> None:
    """Merge what can be merged."""
    while len(search.best.faults) <= MOST and any(_merged(search, *pair) for pair in _pairs(search)):
        pass


def _pairs(search: Search) -> Iterator[tuple[int, int]]:
    places = [
        i for i, fault in enumerate(search.best.faults) if fault.row.on is Part.LEADERSHIP and fault.after is None
    ]
    return combinations(places, 2)


def _merged(search: Search, first: int, second: int) -> bool:
    faults = search.best.faults
    gap = max(faults[second].at_us - faults[first].at_us, 0)
    lasts = max(faults[first].lasts_us, faults[second].lasts_us)
    for pick in PICKS:
        for amount in dict.fromkeys((0, gap)):
            one = replace(
                faults[first], kind="fast-failover", target="follower", pick=pick, amount=amount, lasts_us=lasts
            )
            if search.changed(faults=_with(faults, first, second, one)):
                return True
    return False


def _with(faults: tuple[Fault, ...], first: int, second: int, one: Fault) -> tuple[Fault, ...]:
    return tuple(one if i == first else fault for i, fault in enumerate(faults) if i != second)
