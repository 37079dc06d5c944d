"""Who holds what: faults overlap, and what several of them hold ends with the last."""

from __future__ import annotations

from collections import defaultdict


class Holds:
    """What faults hold now. Each takes and lets go in its own name; a name that is taken twice is held once.

    >>> holds = Holds()
    >>> holds.take("pause", 1, by=7), holds.take("pause", 1, by=8)
    (True, False)
    >>> holds.let_go("pause", 1, by=7), holds.let_go("pause", 1, by=8), holds.let_go("pause", 1, by=8)
    (False, True, False)
    """

    def __init__(self) -> None:
        """Nothing is held."""
        self._holders: defaultdict[tuple[str, int], set[int]] = defaultdict(set)

    def take(self, what: str, node: int, *, by: int) -> bool:
        """Hold a node in some way; whether nobody else did."""
        holders = self._holders[what, node]
        first = not holders
        holders.add(by)
        return first

    def let_go(self, what: str, node: int, *, by: int) -> bool:
        """The reverse; whether this was the last who held it."""
        holders = self._holders[what, node]
        if by not in holders:
            return False
        holders.remove(by)
        return not holders

    def held(self, what: str, node: int) -> bool:
        """Whether anybody holds it."""
        return bool(self._holders[what, node])
