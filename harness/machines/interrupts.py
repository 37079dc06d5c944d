"""Ctrl-C must not come between us and what has to be removed; and a ``kill`` must let us remove it."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


_ASKED_TO_END: Final = (signal.SIGINT, signal.SIGTERM)


class _Held:
    """A handler of SIGINT, and of SIGTERM where that means the same, which only remembers."""

    def __init__(self) -> None:
        self.came = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.came = True


@contextmanager
def held_interrupts() -> Iterator[None]:
    """What is inside runs to its end; a Ctrl-C or a SIGTERM (as below) that came meanwhile is KeyboardInterrupt afterwards.

    Only for what takes seconds at most. In another thread than the main one, which no Ctrl-C reaches, it does nothing.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or isinstance(before, _Held):
        yield
        return
    held = _Held()
    terminated = signal.getsignal(signal.SIGTERM)
    signal.signal(signal.SIGINT, held)
    if callable(terminated):
        signal.signal(signal.SIGTERM, held)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if callable(terminated):
            signal.signal(signal.SIGTERM, terminated)
    if held.came:
        raise KeyboardInterrupt


@contextmanager
def terminated_like_interrupted() -> Iterator[None]:
    """While it lasts, SIGTERM is KeyboardInterrupt, as Ctrl-C is; in another thread than the main one it does nothing.

    A process that is forked off meanwhile ends at once by SIGTERM, as usual.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    ours = os.getpid()

    def interrupt(number: int, frame: FrameType | None) -> None:
        if os.getpid() != ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGTERM)
            return
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def kept_from_new_processes() -> Iterator[None]:
    """A process that is begun meanwhile hears of no Ctrl-C and no SIGTERM until it calls :func:`hear_them`: its parent's handlers,
    which it begins with, would raise where nobody catches. In this process they come afterwards.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ASKED_TO_END)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def hear_them() -> None:
    """Of a process that :func:`kept_from_new_processes` has kept them from, when it has said what they mean to it."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ASKED_TO_END)
