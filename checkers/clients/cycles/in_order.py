"""Whether a history is obviously in order, so that it has no cycle: a look that is cheap, and says yes only where there is none.

It is for histories without transactions, where whoever reads writes nothing, and whose writes were all invoked. There records
alone tell: let the *colour* of a write be the latest beginning among the writes of its key up to it. If every write was over, and
every poll that returned it, only after that, then whatever begins when one of them is over has a later colour; so time leads
nowhere back. Offsets lead nowhere back either, where each operation's records follow each other in one key.
"""

from __future__ import annotations

import numpy as np

from tidemark.checkers.history.columns.columns import F_TXN, INVOKE, OK
from tidemark.checkers.history.columns.versions import Versions, table

_UNKNOWN = -1
_NEVER = np.iinfo(np.int64).max


def in_order(versions: Versions) -> bool:
    """Whether nothing can be on a cycle. No means that nobody knows."""
    columns = versions.columns
    if (columns.f == F_TXN).any() or len(versions.repeated) or len(versions.conflicting):
        return False
    begin = np.full(versions.values, _UNKNOWN, np.int64)
    due = np.full(versions.values, _NEVER, np.int64)
    key = np.zeros(versions.values, np.int64)
    for type_, half in ((INVOKE, begin), (OK, due)):
        rows = np.flatnonzero(versions.is_send & (versions.type == type_))
        value = versions.value[rows]
        half[value] = versions.half[rows]
        key[value] = versions.key[rows]
        if np.count_nonzero(half != (_UNKNOWN if half is begin else _NEVER)) != len(rows):
            return False
    written = versions.value_at
    if not len(written):
        return True
    key, began = key[written], begin[written]
    if began.min() == _UNKNOWN:
        return False
    runs = 1 + np.count_nonzero((began[1:] != began[:-1]) | (key[1:] != key[:-1]))
    if runs != np.count_nonzero(table(len(columns), began)):
        return False
    shift = key * len(columns)
    colour = np.maximum.accumulate(began + shift) - shift
    reads = np.flatnonzero(versions.is_read)
    position = versions.position[versions.value[reads]]
    if (colour > due[written]).any() or (len(position) and position.min() < 0):
        return False
    return bool((colour[position] <= versions.half[reads]).all())
