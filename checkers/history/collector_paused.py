"""Without Python's garbage collector for a while.

Whoever makes many small objects of which none refer to each other in circles pays for a collector that finds nothing: a tenth of
the time that checking a run of the simulator takes, and more on a busy machine.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Do what follows without the collector; what is garbage by reference count is free at once all the same."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
