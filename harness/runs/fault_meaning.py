"""What a fault's figures and links come to, in every world."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tidemark.nemesis.links import Link


def deleted_below(start: int, hw: int, share: int) -> int:
    """The offset below which a client deletes that share (per mille) of what lies from the log start to the high watermark; more
    than the whole is beyond that.

    >>> deleted_below(10, 30, 500)
    20
    """
    return start + max(hw - start, 0) * share // 1000


def batches_retained_away(ends: Iterable[int], hw: int, share: int) -> int:
    """How many batches a retention deletes that is to take that share (per mille) of those below the high watermark, rounded up.

    >>> batches_retained_away([2, 4, 6, 8], 6, 500)
    2
    """
    below = sum(1 for end in ends if end <= hw)
    return -(-below * share // 1000)


def told_by_servers(links: Sequence[Link], effect: str, brokers: Sequence[int]) -> tuple[Link, ...]:
    """The links of a fault where there is no node 0: word of who leads comes from all the others, who stand for it.

    >>> told_by_servers([(0, 1)], "lost-leadership", (1, 2, 3))
    ((2, 1), (3, 1))
    """
    if not effect.endswith("-leadership"):
        return tuple(links)
    return tuple((other, to) for _, to in links for other in brokers if other != to)
