"""What min ISR a leader has to go by: the one that it has heard of, or a newer one.

An operator's change counts for a leader once it has heard of it, and not before; of what came later it may have heard, too. So
the least of these is enough. A process that has just started has heard of nothing.

>>> heard = HeardMinIsr(2, [
...     (5, (10, 0, "min-isr", "", 3)), (6, (10, 0, "settings", "", 1)),
...     (9, (14, 1, "settings", "", 1)),
... ], {})
>>> [heard.at_least("t-0", node, index, by=20) for node, index in ((1, 8), (1, 10), (2, 10))]
[2, 3, 2]
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from operator import itemgetter

from tidemark.checkers.history.trace_events import KIND, NODE, TIME, MinIsr, Settings
from tidemark.checkers.history.turning_points import TurningPoint

_place = itemgetter(0)


class HeardMinIsr:
    """Of one run.

    Args:
        first: what it was at the beginning.
        points: the trace's turning points.
        fewest: partition → a number of replicas, of which min ISR is never more.
    """

    def __init__(self, first: int, points: Sequence[TurningPoint], fewest: Mapping[str, int]) -> None:
        self._fewest = fewest
        self._was: list[tuple[int, int]] = [(-1, first)]
        """What min ISR was, and since when, in µs."""
        self._heard: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        """Node → places in the trace, and how many changes of min ISR it had heard of from there on."""
        by_change: dict[int, int] = {}
        for index, event in points:
            kind, node = event[KIND], event[NODE]
            if kind == MinIsr.kind:
                self._was.append((event[TIME], MinIsr(event).min_isr))
            elif kind == Settings.kind and not node:
                by_change[Settings(event).changes] = len(self._was) - 1
            elif kind == Settings.kind:
                self._heard[node].append((index, by_change.get(Settings(event).changes, 0)))
            elif kind == "start" and node in self._heard:
                self._heard[node].append((index, 0))

    def at_least(self, partition: str, node: int, index: int, by: int) -> int:
        """What a node has to go by for a partition at a place in the trace, or up to a later time in µs."""
        heard = self._heard.get(node, ())
        before = bisect_left(heard, index, key=_place)
        newest = heard[before - 1][1] if before else 0
        least = min(value for since, value in self._was[newest:] if since <= by)
        return min(least, self._fewest.get(partition, least))
