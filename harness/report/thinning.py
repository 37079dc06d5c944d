"""Fewer points for a figure of many: of each window and kind the extremes, and ranks between them at equal distances."""

from __future__ import annotations

from typing import Final

import numpy as np

from tidemark.harness.report.operations import Ints

MOST_POINTS: Final = 3000


def thinned(group: Ints, value: Ints, most: int = MOST_POINTS) -> Ints:
    """Which points to draw, by their places, in order.

    Args:
        group: of each point the window and kind it belongs to, numbered from 0 on.
        value: what its group is sorted by; the least and the greatest of each group always stay.
        most: how many may stay; more only if two for each group are more.
    """
    if len(group) <= most:
        return np.arange(len(group))
    order = np.lexsort((value, group))
    _, first, sizes = np.unique(group[order], return_index=True, return_counts=True)
    low, high = 2, most
    while low < high:  # the greatest quota that fits
        middle = (low + high + 1) // 2
        low, high = (middle, high) if np.minimum(sizes, middle).sum() <= most else (low, middle - 1)
    ranks = [
        begin + (np.arange(size) if size <= low else np.arange(low) * (size - 1) // (low - 1))
        for begin, size in zip(first.tolist(), sizes.tolist(), strict=True)
    ]
    kept: Ints = np.sort(order[np.concatenate(ranks)])
    return kept
