"""What the processes of some lines did there first and last, and whether they contradict themselves in between."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tidemark.checkers.history.columns.columns import FIRST_NUMBERED, INVOKE, SEND, Columns, Ints
from tidemark.checkers.history.entry_order import SENDING, Half, Sends, Stretch


def stretch_of(columns: Columns, places: Sequence[int], *, only_sends: bool = False) -> Stretch | None:
    """What each process did first and last in some lines, after each other; None if one may contradict itself in between.

    Args:
        columns: the lines' operations, names as they are there.
        places: the lines' numbers.
        only_sends: whether nothing is asked but that a completion sends what was invoked just before it.
    """
    order = np.argsort(columns.process, kind="stable")
    process, time, f = columns.process[order], columns.time[order], columns.f[order]
    invoked = columns.type[order] == INVOKE
    same: NDArray[np.bool_] = process[1:] == process[:-1]
    ended = same & ~invoked[1:] & invoked[:-1]
    if not only_sends and (
        (same & (time[1:] < time[:-1])).any()
        or (same & (invoked[1:] == invoked[:-1])).any()
        or (ended & (f[1:] != f[:-1])).any()
    ):
        return None
    if _other_sends(columns, order[:-1][ended], order[1:][ended]):
        return None
    begins = np.flatnonzero(np.concatenate([[True], ~same]))[: len(process)]
    ends = np.concatenate([begins[1:], [len(process)]])[: len(process)] - 1

    def halves(at: Ints, *, sending: bool) -> list[Half]:
        """Those at some places in the order, with what they send if they are invocations (`sending`), or if they are none."""
        rows = order[at].tolist()
        return [
            Half(when, invokes, columns.fs[what], places[row], _sends(columns, row) if invokes is sending else ())
            for row, when, invokes, what in zip(
                rows, time[at].tolist(), invoked[at].tolist(), f[at].tolist(), strict=True
            )
        ]

    firsts, lasts = halves(begins, sending=False), halves(ends, sending=True)  # of others nobody asks what they send
    return {
        columns.processes[number]: both
        for number, both in zip(process[begins].tolist(), zip(firsts, lasts, strict=True), strict=True)
    }


def _other_sends(columns: Columns, invoked: Ints, completed: Ints) -> bool:
    """Of pairs of halves: whether a completion may send something else than was invoked, if the invocation tells."""
    rows = np.flatnonzero(columns.row_kind == SEND)
    counts = np.bincount(columns.row_half[rows], minlength=len(columns))
    tells = counts[invoked] > 0
    invoked, completed = invoked[tells], completed[tells]
    if (counts[invoked] != counts[completed]).any():
        return True
    begins = np.cumsum(counts) - counts
    size = counts[invoked]
    within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    asked, done = rows[np.repeat(begins[invoked], size) + within], rows[np.repeat(begins[completed], size) + within]
    return any((column[asked] != column[done]).any() for column in (columns.row_key, columns.row_value))


def _sends(columns: Columns, half: int) -> Sends:
    """What one half sends, as `sends_of` its operation."""
    if columns.fs[columns.f[half]] not in SENDING:
        return ()
    begin, end = np.searchsorted(columns.row_half, (half, half + 1))
    found = []
    for row in range(begin, end):
        if columns.row_kind[row] == SEND:
            number = int(columns.row_value[row])
            value = number if number < FIRST_NUMBERED else columns.values[number - FIRST_NUMBERED]
            found.append((columns.keys[columns.row_key[row]], value.__class__, value))
    return tuple(found)
