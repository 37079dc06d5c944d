"""Who may use a machine's connection: many at once, or one who is going to break it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LOOK_S = 0.02


class Access:
    """A lock that many may share, also the same thread twice; one who wants it alone waits for them, and they for that one."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._sharing = 0
        self._alone = False

    @contextmanager
    def shared(self) -> Iterator[None]:
        """With others."""
        with self._change:
            self._change.wait_for(lambda: not self._alone)
            self._sharing += 1
        try:
            yield
        finally:
            with self._change:
                self._sharing -= 1
                self._change.notify_all()

    @contextmanager
    def exclusive(self, wanted: Callable[[], bool] = lambda: True) -> Iterator[bool]:
        """Alone; or not at all, which the value tells, if it is no longer wanted before the others have gone."""
        with self._change:
            while wanted() and (self._alone or self._sharing):
                self._change.wait(LOOK_S)
            granted = wanted() and not self._alone and not self._sharing
            self._alone |= granted
        try:
            yield granted
        finally:
            with self._change:
                self._alone &= not granted
                self._change.notify_all()
