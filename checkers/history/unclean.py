"""When a run's configuration allowed unclean elections: the meta line says whether it did at first, and operators change it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tidemark.checkers.history.trace_events import UncleanSwitch

if TYPE_CHECKING:
    from tidemark.checkers.history.history import History
    from tidemark.checkers.history.turning_points import TurningPoint

KIND = "unclean-allowed"
"""The kind of fault."""


class Allowance:
    """When unclean elections were allowed, by the configuration.

    The trace tells when the controller took it up (`unclean-switch`), but may say so only after somebody ordered it. Where a trace
    never tells, it is from each order until its end.

    Args:
        history: with its nemesis.
        points: turning points of its trace, in order.
        patience_us: how much later than it was the nemesis may have noted an order: several machines wrote the trace.

    >>> from tidemark.checkers import History
    >>> orders = [(5, "strike", 0, "unclean-allowed", {}), (9, "heal", 0, "unclean-allowed", {})]
    >>> told = [(i, (time, 0, "unclean-switch", "", on)) for i, time, on in ((3, 6, True), (8, 11, False))]
    >>> allowance = Allowance(History.of(nemesis=orders), told)
    >>> [allowance.at(index, time) for index, time in ((2, 5), (4, 7), (7, 10), (9, 12))]
    [False, True, True, False]
    >>> allowance.first_us
    5
    """

    def __init__(self, history: History, points: Iterable[TurningPoint] = (), patience_us: int = 0) -> None:
        self._at_first = bool(history.meta.get("unclean_election", False))
        self._patience_us = patience_us
        self._ordered = [op[0] for op in history.nemesis if op[1] == "strike" and op[3] == KIND]
        self._ended = [op[0] for op in history.nemesis if op[1] == "heal" and op[3] in (KIND, "all")]
        told = [(index, UncleanSwitch(event)) for index, event in points if event[2] == UncleanSwitch.kind]
        self._places, self._switches = [index for index, _ in told], [switch for _, switch in told]

    @property
    def first_us(self) -> int | None:
        """Since when they may have been; None: never."""
        return 0 if self._at_first else min(self._ordered, default=None)

    def at(self, index: int, time: int) -> bool:
        """Whether they were at this place of the trace, at this time."""
        if self._switches:
            before = bisect_left(self._places, index)
            last = self._switches[before - 1] if before else None
            return self._at_first if last is None else last.on and (self._at_first or self._was_ordered(last.time))
        return self._at_first or (self._was_ordered(time) and not self._is_over(time))

    def _was_ordered(self, time: int) -> bool:
        return any(order <= time + self._patience_us for order in self._ordered)

    def _is_over(self, time: int) -> bool:
        last = max(order for order in self._ordered if order <= time + self._patience_us)
        return any(last <= end < time - self._patience_us for end in self._ended)
