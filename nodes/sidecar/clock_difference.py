"""How far this process's wall clock is ahead of CLOCK_MONOTONIC. Two clocks cannot be read at once."""

from __future__ import annotations

import time


class ClockDifference:
    """The same from one look to the next, unless a clock was moved: a process that is put aside between its readings of the two
    learns only between which bounds the difference lies.
    """

    def __init__(self) -> None:
        """Nothing is known before the first look."""
        self._ahead_us: int | None = None

    def ahead_us(self) -> int:
        """What it is now (µs): as at the look before, if that can still be so, else the nearest that can."""
        before_ns, wall_ns, after_ns = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        least, most = (wall_ns - after_ns) // 1000, -((before_ns - wall_ns) // 1000)  # rounded outwards
        self._ahead_us = most if self._ahead_us is None else min(max(self._ahead_us, least), most)
        return self._ahead_us
