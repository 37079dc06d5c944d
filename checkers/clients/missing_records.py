"""The records that must have been there when a final read began, and that the final reads did not return."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tidemark.checkers.clients.client_knowledge import NEVER, Clients
from tidemark.checkers.clients.final_read import FinalRead, FinalReads
from tidemark.checkers.history.columns.columns import OK, UNKNOWN, Ints


class Missing(NamedTuple):
    """A value by its id, the final read that should have returned it, and when the first that should have, and did not, ended."""

    value: int
    read: FinalRead
    gone_us: int


def missing_records(clients: Clients, reads: FinalReads) -> list[Missing]:
    """The values that no final read returned after one that should have, in order of keys.

    Of several final reads the last decides: what only an earlier one lacks is there. And what somebody read when they were over is
    there as well. A read that went on from somewhere says nothing of what was read and lies before.
    """
    versions, since = clients.versions, clients.must_stay_since
    values = np.flatnonzero(since < NEVER)
    if not reads.of or not len(values):
        return []
    rows = np.flatnonzero(versions.is_read & (versions.type == OK))
    seen = np.full(versions.values, -1, np.int64)
    np.maximum.at(seen, versions.value[rows], clients.columns.time[versions.half[rows]])
    offset = np.full(versions.values, UNKNOWN, np.int64)
    np.maximum.at(offset, versions.value[rows], versions.offset[rows])
    keys = versions.key[versions.a_row_of[values]]
    found = []
    for key, own in sorted(reads.of.items()):
        begin, end = np.searchsorted(keys, (key, key + 1))
        of_key = values[begin:end]
        at = _latest_begun(own)[reads.shown[of_key] + 1]
        began, ended, first = (
            np.array([*(getattr(read, name) for read in own), -1], np.int64)[at] for name in ("began", "ended", "since")
        )
        lacks = (at >= 0) & (since[of_key] < began) & (seen[of_key] <= ended)
        lacks &= (seen[of_key] < 0) | (offset[of_key] >= first)
        for one in np.flatnonzero(lacks).tolist():
            value, read = int(of_key[one]), own[at[one]]
            later = own[int(reads.shown[value]) + 1 :]
            gone = next(it.ended for it in later if it.began > since[value] and it.since in (UNKNOWN, read.since))
            found.append(Missing(value, read, gone))
    return found


def _latest_begun(reads: list[FinalRead]) -> Ints:
    """By place: of the reads from there on the one that began last, those from the start before others; -1 beyond the last."""
    latest = np.full(len(reads) + 1, -1, np.int64)
    for place in reversed(range(len(reads))):
        now, later = reads[place], reads[latest[place + 1]]
        better = latest[place + 1] < 0 or (now.since == UNKNOWN, now.began) > (later.since == UNKNOWN, later.began)
        latest[place] = place if better else latest[place + 1]
    return latest
