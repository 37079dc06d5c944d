"""Noise that is none: a stream that always draws the same."""

from __future__ import annotations

from random import Random

from tidemark.harness.simulator.network import BASE_US, SPREAD_US


class Steady(Random):
    """Stands where a noise stream does.

    >>> steady = Steady(0.5)
    >>> steady.random(), steady.random()
    (0.5, 0.5)
    """

    def __init__(self, value: float) -> None:
        super().__init__(0)
        self._value = value

    def random(self) -> float:
        """The value."""
        return self._value


def share_of(delay_us: int) -> float:
    """What the network must draw for a message to take so long.

    >>> [BASE_US + int(share_of(delay) * SPREAD_US) for delay in (1, 300, 1_000, 1_301, 7_777)]
    [1, 300, 1000, 1301, 7777]
    """
    beyond = delay_us - BASE_US
    return (beyond + (0.5 if beyond >= 0 else -0.5)) / SPREAD_US
