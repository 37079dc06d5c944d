"""What a power loss leaves of a log, on a simulated disk as on a real one.

On disk is what was synced, and what was written :data:`WRITEBACK_US` or longer ago (the kernel wrote it back); of the rest any
prefix; and in 3 of 10 cases a part of the next batch, which recovery finds broken and drops. Checkpoint files were durable when
they were written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

WRITEBACK_US = 3_000_000
"""After this the page cache has reached the disk on its own (Linux: ``dirty_expire_centisecs``, 30 s)."""

TORN = 0.3
"""Share of power losses that leave a part of the first lost batch behind."""


class Survivors(NamedTuple):
    """What stays of a log.

    Attributes:
        kept: how many batches.
        torn: a share in [0, 1) that says how much of the next one; None: nothing.
    """

    kept: int
    torn: float | None


def draw_survivors(noise: Callable[[], float], safe: int, written: int) -> Survivors:
    """Draw what stays of one log.

    Args:
        noise: numbers in [0, 1), of which up to three are drawn.
        safe: how many batches were synced, or are old enough.
        written: how many there are.
    """
    kept = safe + int(noise() * (written - safe + 1))
    torn = noise() if kept < written and noise() < TORN else None
    return Survivors(kept, torn)
