"""How long to search: a number of replays, which gives the same result every time, and seconds, which need not."""

from __future__ import annotations

import time


class BudgetSpentError(Exception):
    """No replay is left; the best plan so far stands."""


class Budget:
    """Counts replays.

    Attributes:
        replays: how many there were.
    """

    def __init__(self, most: int, seconds: float | None = None) -> None:
        """At most ``most`` replays, and none that begins after ``seconds``."""
        self._most = most
        self._until = None if seconds is None else time.monotonic() + seconds
        self.replays = 0

    def is_spent(self) -> bool:
        """Whether no replay is left."""
        return self.replays >= self._most or (self._until is not None and time.monotonic() >= self._until)

    def spend(self) -> None:
        """Take one.

        Raises:
            BudgetSpentError: there is none left.
        """
        if self.is_spent():
            raise BudgetSpentError
        self.replays += 1
