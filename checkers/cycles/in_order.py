"""Whether a history is obviously in order, so that it has no cycle: a look that is cheap, and says yes only where there is none.

It is for histories without transactions, where whoever reads writes nothing. There records alone tell: let the *colour* of a write
be the latest beginning among the writes of its key up to it. If every write was over, and every poll that returned it, only after
that, then whatever begins when one of them is over has a later colour; so time leads nowhere back. Offsets lead nowhere back
either, where each operation's records follow each other in one key.
"""

from __future__ import annotations

import numpy as np

from checkers.columns import Versions
from checkers.columns.columns import F_TXN, INVOKE, OK
from checkers.columns.versions import table

_UNKNOWN = -1


def in_order(versions: Versions) -> bool:
    """Whether nothing can be on a cycle. No means that nobody knows."""
    columns = versions.columns
    if (columns.f == F_TXN).any() or len(versions.repeated) or len(versions.conflicting):
        return False
    sends = np.flatnonzero(versions.is_send)
    value, half, ended = versions.value[sends], versions.half[sends], versions.type[sends]
    begin = np.full(versions.values, _UNKNOWN, np.int64)
    begin[value] = half
    invoked = ended == INVOKE
    begin[value[invoked]] = half[invoked]
    due = np.full(versions.values, np.iinfo(np.int64).max, np.int64)
    over = ended == OK
    due[value[over]] = half[over]
    if (begin[value[invoked]] != half[invoked]).any() or (due[value[over]] != half[over]).any():
        return False
    written = versions.value_at
    if not len(written):
        return True
    key = np.zeros(versions.values, np.int64)
    key[versions.value] = versions.key
    key = key[written]
    began = begin[written]
    runs = 1 + np.count_nonzero((began[1:] != began[:-1]) | (key[1:] != key[:-1]))
    if began.min() == _UNKNOWN or runs != np.count_nonzero(table(len(columns), began)):
        return False
    shift = key * len(columns)
    colour = np.maximum.accumulate(began + shift) - shift
    reads = np.flatnonzero(versions.is_read)
    position = versions.position[versions.value[reads]]
    if (colour > due[written]).any() or (len(position) and position.min() < 0):
        return False
    return bool((colour[position] <= versions.half[reads]).all())
