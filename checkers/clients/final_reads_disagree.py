"""`final-reads-disagree`: two final reads of a key ended at different places, though all writes were over when they began.

Both came to their end (:mod:`tidemark.checkers.clients.final_read`), so one of them was not given records that the other was, and
that must have been there when the first began. Where final reads begin differs lawfully, as retention goes on. Once per key, and
judged as the loss of what only one of them has.

>>> from tidemark.checkers import History, check, polled, sent
>>> verdict = check(History.of(ops=[
...     sent(1, "p1", "t-0", 7, 0), sent(2, "p1", "t-0", 8, 1),
...     polled(3, "c1", "t-0", (0, 7))._replace(final=True),
...     polled(4, "c2", "t-0", (0, 7), (1, 8))._replace(final=True),
... ]))
>>> print(verdict.anomalies[0].message)
Two final reads of t-0 ended at different places: that of c1 at 0.000003 s at offset 0, that of c2 at 0.000004 s at offset 1. \
Only c2 was given record 8 at offset 1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tidemark.checkers.clients.client_knowledge import Clients
from tidemark.checkers.clients.final_read import FinalRead, FinalReads
from tidemark.checkers.history.columns.columns import Ints
from tidemark.checkers.verdict.verdict import PERMITTED, Anomaly, Judgement, seconds

NAME = "final-reads-disagree"
MOST_NAMED = 8
"""So many of the values that only one read has are named."""
_MOST_ENDS = 20
"""So many different ends are held against the furthest."""


def final_reads_disagree(
    clients: Clients, reads: FinalReads, judge: Callable[[str, int, FinalRead], Judgement | None]
) -> list[Anomaly]:
    """One for each key; `judge` says of a key, a value's id and a read without it how that is taken, None if it was deleted."""
    if not any(len(own) > 1 for own in reads.of.values()):
        return []
    versions = clients.versions
    sends = np.flatnonzero(versions.is_send)
    over = np.full(len(clients.columns.keys), -1, np.int64)
    np.maximum.at(over, versions.key[sends], clients.columns.time[versions.half[sends]])
    order = np.lexsort((reads.places, versions.key[reads.rows]))
    codes = versions.key[reads.rows][order], reads.places[order]
    anomalies = []
    for key, own in sorted(reads.of.items(), key=lambda one: clients.columns.keys[one[0]]):
        late = [(read.end, place) for place, read in enumerate(own) if read.began >= over[key]]
        if len(late) < 2 or max(late)[0] == min(late)[0]:
            continue
        _, furthest = max(late)
        begin, end = np.searchsorted(codes[0], (key, key + 1))
        begin, end = begin + np.searchsorted(codes[1][begin:end], (furthest, furthest + 1))
        rows = reads.rows[order[begin:end]]
        shorter = {read_end: place for read_end, place in sorted(late, reverse=True) if read_end < own[furthest].end}
        for _, place in sorted(shorter.items())[:_MOST_ENDS]:
            found = _held_against(clients, clients.columns.keys[key], own[place], own[furthest], rows, judge)
            if found is not None:
                anomalies.append(found)
                break
    return anomalies


def _held_against(
    clients: Clients,
    key: str,
    short: FinalRead,
    long: FinalRead,
    rows: Ints,
    judge: Callable[[str, int, FinalRead], Judgement | None],
) -> Anomaly | None:
    versions = clients.versions
    beyond = rows[(versions.offset[rows] > short.end) & (clients.must_stay_since[versions.value[rows]] < short.began)]
    judged = [(row, judge(key, int(versions.value[row]), short)) for row in beyond.tolist()]
    counted = [(row, found) for row, found in judged if found is not None]
    if not counted:
        return None
    _, gravest = min(counted, key=lambda one: one[1].verdict == PERMITTED)
    first, _ = counted[0]
    given = f"record {versions.value_of(first)} at offset {versions.offset[first]}"
    given += f" and {len(counted) - 1} more" if len(counted) > 1 else ""
    message = (
        f"Two final reads of {key} ended at different places: {_told(short)}, {_told(long)}. "
        f"Only {long.process} was given {given}."
    )
    evidence = {
        "reads": [{**read.told(), "end": read.end} for read in (short, long)],
        "count": len(counted),
        "values": [versions.value_of(row) for row, _ in counted[:MOST_NAMED]],
    }
    time = max(short.ended, long.ended)
    return Anomaly(NAME, gravest.verdict, time, key, message, gravest.clause, gravest.breaks, evidence)


def _told(read: FinalRead) -> str:
    where = f"at offset {read.end}" if read.end >= 0 else "without a record"
    return f"that of {read.process} at {seconds(read.ended)} {where}"
