"""What takes long is said again, with how long it has taken: nobody who waits has to wonder."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EVERY_S = 8.0


@contextmanager
def said_again(
    tell: Callable[[str], None], all_of_it: str, every_s: float = EVERY_S
) -> Iterator[Callable[[str], None]]:
    """Something to say what is being done; the last of it is said again by a thread until there is something else, or an end.

    Args:
        tell: hears it all, of one thread at a time.
        all_of_it: what is being done until somebody says more; so nothing is said of what is quick.
        every_s: how long after it was said last.
    """
    changed, over, lock = threading.Event(), threading.Event(), threading.Lock()
    doing = all_of_it, time.monotonic()

    def say(sentence: str) -> None:
        nonlocal doing
        with lock:
            doing = sentence, time.monotonic()
            tell(sentence)
        changed.set()

    def go_on() -> None:
        while not over.is_set():
            if changed.wait(every_s):
                changed.clear()
                continue
            with lock:
                if not over.is_set():
                    sentence, since = doing
                    tell(f"{sentence} ({time.monotonic() - since:.0f} s so far)")

    thread = threading.Thread(target=go_on, name="says what takes long", daemon=True)
    thread.start()
    try:
        yield say
    finally:
        with lock:
            over.set()
        changed.set()
        thread.join()
