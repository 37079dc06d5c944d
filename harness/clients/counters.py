"""How far the clients are, for a progress display."""

from __future__ import annotations

import threading

NAMES = ("invoked", "ok", "fail", "info", "polled")


class Counters:
    """Counts that any thread may add to and read.

    Attributes:
        invoked, ok, fail, info: send operations begun, and how they ended.
        polled: records read.
    """

    __slots__ = ("_lock", "fail", "info", "invoked", "ok", "polled")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.invoked = self.ok = self.fail = self.info = self.polled = 0

    def add(self, name: str, amount: int = 1) -> None:
        """Add to the count of that name, one of `NAMES`."""
        with self._lock:
            setattr(self, name, getattr(self, name) + amount)

    def snapshot(self) -> dict[str, int]:
        """All counts at one moment."""
        with self._lock:
            return {name: getattr(self, name) for name in NAMES}
