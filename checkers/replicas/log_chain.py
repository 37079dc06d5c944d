"""A log's chain: two logs have the same records between two offsets iff their chains rise by as much there.

``chain[o]`` is a sum over the records ``[0, o)`` of squares of their hashes (a sum of the hashes themselves would not do: those of
tuples that differ in their last places alone differ by the same amount). So comparing costs one comparison, however long the logs
are.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.checkers.replicas.replayed_replica import ReplayedReplica


def agree(one: Sequence[int], other: Sequence[int], begin: int, end: int) -> bool:
    """Whether two logs have the same records between two offsets, by their chains."""
    return one[end] - one[begin] == other[end] - other[begin]


def first_difference(one: Sequence[int], other: Sequence[int], end: int, begin: int = 0) -> int:
    """The offset of the first record from `begin` on in which two logs differ, by their chains; there is one below `end`."""
    same, different = begin, end
    while different - same > 1:
        middle = (same + different) // 2
        if agree(one, other, begin, middle):
            same = middle
        else:
            different = middle
    return same


def in_common(one: ReplayedReplica, other: ReplayedReplica, end: int) -> int:
    """Where the comparison of two logs up to `end` begins: at the larger log start, or behind a hole of what was deleted."""
    return min(max(one.start, other.start, one.deleted_hole, other.deleted_hole), end)


def carried_on(chain: list[int], begin: int, end: int, onto: int) -> list[int]:
    """The part of a chain between two offsets, as it goes on from another one's link."""
    risen = onto - chain[begin]
    links = chain[begin + 1 : end + 1]
    return [link + risen for link in links] if risen else links
