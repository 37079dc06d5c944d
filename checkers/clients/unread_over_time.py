"""How many acknowledged records nobody had polled yet, over time: Jepsen's series of ``unseen`` (``jepsen.tests.kafka``).

>>> from tidemark.checkers import History, polled, sent
>>> from tidemark.checkers.clients.check_clients import clients_of
>>> ops = [sent(1, "p1", "t-0", 7, 0), sent(2, "p1", "t-0", 8, 1), polled(5, "c1", "t-0", (0, 7))]
>>> [(one.key, one.time.tolist(), one.records.tolist()) for one in unread_over_time(clients_of(History.of(ops=ops)))]
[('t-0', [1, 2, 5], [1, 2, 1])]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tidemark.checkers.clients.client_knowledge import Clients
from tidemark.checkers.history.columns.columns import OK, Bits, Ints

_NEVER = np.iinfo(np.int64).max


class Unread(NamedTuple):
    """One key: from each time on (µs, rising) so many acknowledged records had not been polled."""

    key: str
    time: Ints
    records: Ints


def unread_over_time(clients: Clients) -> Iterator[Unread]:
    """By key, in the order of their first acknowledgement; a record counts from its acknowledgement until the first ok poll that
    returned it ends. One that was polled before it was acknowledged never does.
    """
    versions = clients.versions
    acked, polled = _first(clients, versions.is_send), _first(clients, versions.is_read)
    waited = np.flatnonzero((acked != _NEVER) & (polled > acked))
    key = versions.key[versions.a_row_of[waited]]
    seen = polled[waited] != _NEVER
    keys = np.concatenate((key, key[seen]))
    times = np.concatenate((acked[waited], polled[waited][seen]))
    change = np.repeat(np.array([1, -1], np.int64), [len(waited), int(np.count_nonzero(seen))])
    order = np.lexsort((times, keys))
    begins = np.flatnonzero(np.diff(keys[order], prepend=-1))
    parts = [part for part in np.split(order, begins[1:]) if len(part)]
    for part in sorted(parts, key=lambda part: int(times[part[0]])):
        last = np.flatnonzero(np.append(np.diff(times[part]), 1))
        yield Unread(clients.columns.keys[keys[part[0]]], times[part][last], np.cumsum(change[part])[last])


def _first(clients: Clients, wanted: Bits) -> Ints:
    """By value, when the first ok operation of these rows ended."""
    versions = clients.versions
    rows = np.flatnonzero(wanted & (versions.type == OK))
    found = np.full(versions.values, _NEVER, np.int64)
    np.minimum.at(found, versions.value[rows], clients.columns.time[versions.half[rows]])
    return found
