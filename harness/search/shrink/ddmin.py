"""Delta debugging: the least part of a sequence of which something still holds.

Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (TSE 2002), without the test of the parts alone, which
among faults hardly ever pays, and with pairs in the end: two faults that undo each other can only go together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TypeVar

T = TypeVar("T")

Test = Callable[[list[T]], bool]
"""Whether it holds of what is left; may have side effects, since it is asked of a smaller part only if it held of the larger."""

MOST_FOR_PAIRS = 8
"""Among more, all pairs would be too many."""


def ddmin(items: Sequence[T], holds: Test[T]) -> list[T]:
    """A part of ``items``, in their order, of which it holds, and of which it holds no more without any one of them.

    ``holds`` is never asked of all items, of which it is known.

    >>> ddmin(range(100), lambda left: {13, 57} <= set(left))
    [13, 57]
    """
    left = list(items)
    parts = 2
    while left:
        size = -(-len(left) // parts)
        for begin in range(0, len(left), size):
            shorter = left[:begin] + left[begin + size :]
            if holds(shorter):
                left = shorter
                parts = max(parts - 1, 2)
                break
        else:
            if size == 1:
                break
            parts = min(2 * parts, len(left))
    return left


def without_pairs(items: Sequence[T], holds: Test[T]) -> list[T]:
    """What is left when every pair is gone that can go, if there are few enough.

    >>> without_pairs("a(b)", lambda left: left.count("(") == left.count(")"))
    []
    """
    left = list(items)
    while 1 < len(left) <= MOST_FOR_PAIRS:
        for pair in combinations(range(len(left)), 2):
            shorter = [item for place, item in enumerate(left) if place not in pair]
            if holds(shorter):
                left = shorter
                break
        else:
            break
    return left
