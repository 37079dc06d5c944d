"""`realtime-lag`: how far behind, in time, a consumer was when it polled.

The lag of a key in an ok poll is the time from the moment at which a record beyond the consumer's position was known to be there
until the poll was invoked: a lower bound, since the record was there before it was known. No anomaly by itself; the worst is told
with every history of clients, and all can be plotted. Source: ``jepsen.tests.kafka``, ``realtime-lag``.

>>> from tidemark.checkers import History, Op, check, polled, sent
>>> verdict = check(History.of(ops=[
...     sent(1, "p1", "t-0", 7, 0),
...     polled(2, "c1", "t-0", (0, 7)),
...     sent(3, "p1", "t-0", 8, 1),
...     Op(4, "c1", "invoke", "poll", ()),
...     polled(5, "c1", "t-0"),
... ]))
>>> verdict.stats["worst_realtime_lag"]
{'lag_us': 1, 'time': 4, 'process': 'c1', 'key': 't-0', 'lag_ns': 1000}
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tidemark.checkers.clients.client_knowledge import Clients
from tidemark.checkers.history.columns.columns import (
    F_ASSIGN,
    F_POLL,
    F_SUBSCRIBE,
    F_TXN,
    KEPT,
    OK,
    READ,
    SEND,
    Bits,
    Columns,
    Ints,
)

NEVER = np.iinfo(np.int64).max


class Lags(NamedTuple):
    """One process and one key: when each of its ok polls was invoked (µs), and how far behind it was then (ns)."""

    process: str | int
    key: str
    time: Ints
    lag_ns: Ints

    @property
    def lag_us(self) -> Ints:
        """The same in whole µs."""
        return self.lag_ns // 1000


def worst_realtime_lag(clients: Clients) -> dict[str, Any] | None:
    """The first of the greatest; `None` if nobody polled."""
    worst: dict[str, Any] | None = None
    for lags in realtime_lags(clients):
        if len(lags.time):
            at = int(np.argmax(lags.lag_ns))
            lag_ns, time = int(lags.lag_ns[at]), int(lags.time[at])
            if worst is None or (-lag_ns, time) < (-worst["lag_ns"], worst["time"]):
                worst = {
                    "lag_us": lag_ns // 1000,
                    "time": time,
                    "process": lags.process,
                    "key": lags.key,
                    "lag_ns": lag_ns,
                }
    return worst


def realtime_lags(clients: Clients) -> Iterator[Lags]:
    """All, by process and key: of each key that the process was assigned, or that a poll has given it."""
    columns = clients.columns
    time_ns = columns.time * 1000 + columns.time_ns
    expired = _Expired(columns, time_ns)
    of_process = _OfProcess(columns)
    for process, name in enumerate(columns.processes):
        polls, resets = of_process.halves(process)
        if not len(polls):
            continue
        invoked = time_ns[clients.began(polls)]
        for key, (ended, offsets) in of_process.reads(process).items():
            best = np.full(len(polls), -1, np.int64)
            np.maximum.at(best, np.searchsorted(polls, ended), offsets)
            position, tracked = _positions(best, np.searchsorted(polls, resets), of_process.named(resets, key))
            behind = invoked - np.minimum(expired.when(key, position + 1), invoked)
            yield Lags(name, columns.keys[key], invoked[tracked] // 1000, behind[tracked])


def _positions(best: Ints, cuts: Ints, named: Bits) -> tuple[Ints, Ints]:
    """The position after each poll, and which polls concern the key.

    Args:
        best: the greatest offset that each poll gave, -1 for none.
        cuts: before which polls the process was assigned keys anew.
        named: whether the key was one of them.
    """
    position = np.empty(len(best), np.int64)
    tracked = np.zeros(len(best), np.bool_)
    at, known = -1, False
    for begin, end, kept in zip(
        [0, *cuts.tolist()], [*cuts.tolist(), len(best)], [False, *named.tolist()], strict=True
    ):
        at, known = (at, True) if kept and known else (-1, bool(kept))
        span = slice(begin, end)
        position[span] = np.maximum(np.maximum.accumulate(best[span]), at)
        tracked[span] = known | (position[span] >= 0)
        if end > begin:
            at, known = int(position[end - 1]), bool(tracked[end - 1])
    return position, np.flatnonzero(tracked)


class _Expired:
    """When each offset of a key was first known to be there, so that the one below was no longer the last."""

    def __init__(self, columns: Columns, time_ns: Ints) -> None:
        told = np.flatnonzero(((columns.row_kind == READ) | (columns.row_kind == SEND)) & (columns.row_offset >= 0))
        self._of_key: dict[int, tuple[Ints, Ints]] = {}
        for key, rows in _by(columns.row_key, told):
            furthest = np.maximum.accumulate(columns.row_offset[rows])
            first = np.flatnonzero(np.diff(furthest, prepend=-1))
            self._of_key[key] = furthest[first], time_ns[columns.row_half[rows[first]]]

    def when(self, key: int, offsets: Ints) -> Ints:
        """In ns; `NEVER` for what nobody knew of."""
        furthest, times = self._of_key.get(key, (np.empty(0, np.int64),) * 2)
        return np.append(times, NEVER)[np.searchsorted(furthest, offsets)]


class _OfProcess:
    """What each process polled, and was assigned."""

    def __init__(self, columns: Columns) -> None:
        ok = columns.type == OK
        self._polls = dict(_by(columns.process, np.flatnonzero(ok & ((columns.f == F_POLL) | (columns.f == F_TXN)))))
        assigned = np.flatnonzero(ok & ((columns.f == F_ASSIGN) | (columns.f == F_SUBSCRIBE)))
        self._resets = dict(_by(columns.process, assigned))
        self._f = columns.f
        kept = np.flatnonzero(
            (columns.row_kind == KEPT) & ok[columns.row_half] & (columns.f[columns.row_half] == F_ASSIGN)
        )
        self._kept = {key: columns.row_half[rows] for key, rows in _by(columns.row_key, kept)}
        gave = ((columns.row_kind == READ) | (columns.row_kind == SEND)) & (columns.row_offset >= 0)
        f = columns.f[columns.row_half]
        rows = np.flatnonzero(gave & ok[columns.row_half] & ((f == F_POLL) | (f == F_TXN)))
        process = columns.process[columns.row_half]
        self._reads: dict[int, dict[int, tuple[Ints, Ints]]] = {}
        for one, mine in _by(process, rows):
            self._reads[one] = {
                key: (columns.row_half[of_key], columns.row_offset[of_key])
                for key, of_key in _by(columns.row_key, mine)
            }
        for one, mine in _by(process, kept):
            for key in np.unique(columns.row_key[mine]).tolist():
                self._reads.setdefault(one, {}).setdefault(key, (np.empty(0, np.int64), np.empty(0, np.int64)))

    def halves(self, process: int) -> tuple[Ints, Ints]:
        """The completions of its ok polls, and of its ok assignments."""
        nothing = np.empty(0, np.int64)
        return self._polls.get(process, nothing), self._resets.get(process, nothing)

    def reads(self, process: int) -> dict[int, tuple[Ints, Ints]]:
        """Per key that it was given or assigned: the completion and the offset of each record."""
        return self._reads.get(process, {})

    def named(self, resets: Ints, key: int) -> Bits:
        """Which of these assignments name a key."""
        found: Bits = np.isin(resets, self._kept.get(key, np.empty(0, np.int64)))
        return found


def _by(group: Any, chosen: Ints) -> Iterator[tuple[int, Ints]]:  # noqa: ANN401 - of any width
    """Some places of a column, apart by what it has there, each in order."""
    if not len(chosen):
        return
    order = chosen[np.argsort(group[chosen], kind="stable")]
    ends = np.flatnonzero(np.diff(group[order])) + 1
    for part in np.split(order, ends):
        yield int(group[part[0]]), part
