"""Ctrl-C must not come between us and what has to be removed; and a ``kill`` must let us remove it."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


class _Held:
    """A handler of SIGINT that only remembers."""

    def __init__(self) -> None:
        self.came = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.came = True


@contextmanager
def held_interrupts() -> Iterator[None]:
    """What is inside runs to its end; a Ctrl-C that came meanwhile is KeyboardInterrupt afterwards.

    Only for what takes seconds at most. In another thread than the main one, which no Ctrl-C reaches, it does nothing.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or isinstance(before, _Held):
        yield
        return
    held = _Held()
    signal.signal(signal.SIGINT, held)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if held.came:
        raise KeyboardInterrupt


@contextmanager
def terminated_like_interrupted() -> Iterator[None]:
    """While it lasts, SIGTERM is KeyboardInterrupt, as Ctrl-C is; in another thread than the main one it does nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
