"""`broken-log`: a log that is not a log: offsets with gaps or overlaps, epochs that decrease, a log start beyond the
log's end, an epoch cache that lies.

Checked for every append and log start, once per replica, and for every replica that runs at the end. A gap is none where
all that is missing was deleted on purpose, by whomever. The epoch cache must
rise strictly in epochs and in start offsets; each epoch of the log must have its entry at the epoch's first
record that is not deleted; an entry for an epoch without records must lie between the records of lower and of higher epochs, and
not beyond the log's end.

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(trace=[
...     (10, 1, "append", "t-0", 0, 1, (7,)),
...     (20, 1, "append", "t-0", 2, 1, (8,)),
... ]))
>>> print(verdict.anomalies[0].message)
Broker 1 wrote a batch at offset 2 of t-0 at 0.000020 s, but its log ended at 1.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.checkers.history.history import Value
from tidemark.checkers.history.trace_events import Final, LogStart, TraceEvent
from tidemark.checkers.replicas.committed import ON_PURPOSE
from tidemark.checkers.replicas.finder import Finder
from tidemark.checkers.replicas.replayed_replica import Removal, ReplayedReplica
from tidemark.checkers.verdict.verdict import PERMITTED, VIOLATION, Anomaly, seconds

NAME = "broken-log"
LOG_START_FORGOTTEN = "log-start-forgotten"
"""The epochs of deleted records are missing in the cache, though a crash has taken the log start back below those records."""


_Look = tuple[Sequence[tuple[int, int, Sequence[Value]]], int, int, int]
"""Batches, log end, log start, and up to where records were deleted on purpose."""


class BrokenLog(Finder):
    """Looks at appends that do not continue their log, and at final logs.

    `epoch_cache` says whether the variant keeps one; without, an empty cache is in order.
    """

    def __init__(self, *, epoch_cache: bool = True) -> None:
        super().__init__()
        self._epoch_cache = epoch_cache
        self._told: dict[tuple[str, int], str] = {}
        """What was told of a replica when it happened: its final log is not told of for the same."""
        self._cut_to: dict[ReplayedReplica, int] = {}
        """Up to where a replica's epoch cache was cut from its start."""
        self._deleted: dict[str, int] = {}
        """Up to where anybody deleted a partition's records on purpose."""
        self._looked_at: _Look | None = None
        self._found: tuple[str | None, list[tuple[int, int]]] = None, []
        """Of the final log that was looked at last, and what was found: the next replica's is mostly the same."""

    def on_log_start(self, index: int, event: LogStart, replica: ReplayedReplica, previous: int) -> None:
        """The epoch cache is cut with the log. A log must not start beyond its end."""
        time, node, partition, start, how = event.time, event.node, event.partition, event.start, event.how
        anew = how == "begin-anew"
        self._cut_to[replica] = replica.start if anew else max(self._cut_to.get(replica, 0), replica.start)
        if how in ON_PURPOSE:
            self._deleted[partition] = max(self._deleted.get(partition, 0), min(start, replica.hw))
        leo = len(replica.records)
        if start > leo and self.is_new((partition, node)):
            message = (
                f"The log of broker {node} for {partition} starts at offset {start} since {seconds(time)} ({how}), but ends at "
                f"{leo}."
            )
            evidence = {"node": node, "start": start, "how": how, "leo": leo, "trace_index": index}
            self.anomalies.append(Anomaly(NAME, VIOLATION, time, partition, message, evidence=evidence))

    def on_removed(self, index: int, replica: ReplayedReplica, removal: Removal) -> None:
        """What is written there now has its epochs."""
        self._cut_to[replica] = min(self._cut_to.get(replica, 0), removal.to)

    def on_misfit(self, index: int, event: TraceEvent, replica: ReplayedReplica) -> None:
        """The batch does not continue the log."""
        time, node, _, partition, base_offset, epoch, _ = event
        if (partition, node) in self._told:
            return
        leo = len(replica.records)
        last_epoch = replica.records[-1][0] if replica.records else -1
        if leo < base_offset <= self._deleted.get(partition, 0) and epoch >= last_epoch:
            return
        self._told[partition, node] = _gap(base_offset, leo)
        if base_offset != leo:
            wrong = f"at offset {base_offset} of {partition} at {seconds(time)}, but its log ended at {leo}"
        else:
            wrong = (
                f"of epoch {epoch} at offset {base_offset} of {partition} at {seconds(time)}, "
                f"after a record of epoch {last_epoch}"
            )
        evidence = {
            "node": node,
            "base_offset": base_offset,
            "epoch": epoch,
            "leo": leo,
            "last_epoch": last_epoch,
            "trace_index": index,
        }
        message = f"Broker {node} wrote a batch {wrong}."
        self.anomalies.append(Anomaly(NAME, VIOLATION, time, partition, message, evidence=evidence))

    def on_final(self, index: int, event: Final, replica: ReplayedReplica) -> None:
        """The final log and its epoch cache. A stopped replica will be judged by what its recovery leaves."""
        if not replica.up:
            return
        time, node, partition = event.time, event.node, event.partition
        leo, cache, batches = event.leo, event.cache, event.batches
        deleted = self._deleted.get(partition, 0)
        what = batches, leo, replica.start, deleted
        if what != self._looked_at:
            self._looked_at, self._found = what, _broken_batches(*what)
        wrong, starts = self._found
        verdict, clause = VIOLATION, None
        if wrong is None and (cache or self._epoch_cache):
            wrong = _broken_cache(self._in_use(replica, cache), starts, leo)
            if wrong is not None and self._is_forgotten(replica, leo, cache, batches, deleted):
                verdict, clause = PERMITTED, LOG_START_FORGOTTEN
        if wrong is not None and wrong != self._told.get((partition, node)):
            message = f"The final log of broker {node} for {partition} is broken: {wrong}."
            evidence = {"node": node, "leo": leo, "cache": cache, "epochs": starts, "trace_index": index}
            self.anomalies.append(Anomaly(NAME, verdict, time, partition, message, clause, evidence=evidence))

    def _is_forgotten(
        self,
        replica: ReplayedReplica,
        leo: int,
        cache: Sequence[tuple[int, int]],
        batches: Sequence[tuple[int, int, Sequence[Value]]],
        deleted: int,
    ) -> bool:
        """Whether the cache is in order but for what it lost with an earlier log start."""
        start = self._cut_to.get(replica, 0)
        if not replica.start < start <= leo:
            return False
        _, starts = _broken_batches(batches, leo, start, deleted)
        return _broken_cache(self._in_use(replica, cache), starts, leo) is None

    def _in_use(self, replica: ReplayedReplica, cache: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
        """The cache without an epoch of which all was deleted, and in whose place the next one begins (up to KAFKA-7415)."""
        cut_to = self._cut_to.get(replica, 0)
        return cache[1:] if cut_to and [start for _, start in cache[:2]] == [cut_to, cut_to] else cache


def _broken_batches(
    batches: Sequence[tuple[int, int, Sequence[Value]]], leo: int, start: int, deleted: int
) -> tuple[str | None, list[tuple[int, int]]]:
    """What is wrong with the batches, if anything, and where each epoch of the log begins: ``(epoch, offset)``.

    The first batches may lie below the log start, or reach across it; their epochs begin there. Up to `deleted` there may be gaps.
    """
    expected, last = min(start, batches[0][0]) if batches else start, -1
    starts: list[tuple[int, int]] = []
    if start > leo:
        return f"its log start offset is {start}, but its log end offset is {leo}", starts
    for base_offset, epoch, values in batches:
        if expected < base_offset <= deleted:
            expected = base_offset
        if base_offset != expected:
            return _gap(base_offset, expected), starts
        if epoch < last:
            return f"the batch at offset {base_offset} has epoch {epoch} after epoch {last}", starts
        expected += len(values)
        if expected > start and epoch != (starts[-1][0] if starts else -1):
            starts.append((epoch, max(base_offset, start)))
        last = epoch
    if expected != leo and not expected < leo <= deleted:
        return f"its log end offset is {leo}, but its records end at {expected}", starts
    return None, starts


def _gap(base_offset: int, expected: int) -> str:
    return f"a batch begins at offset {base_offset} where {expected} comes next"


def _broken_cache(cache: Sequence[tuple[int, int]], starts: list[tuple[int, int]], leo: int) -> str | None:
    """What is wrong with the epoch cache of a log whose epochs begin at `starts`, if anything."""
    last_epoch = last_start = -1
    for epoch, start in cache:
        if epoch <= last_epoch or start <= last_start:
            return f"the epoch cache goes from epoch {last_epoch} at {last_start} to epoch {epoch} at {start}"
        last_epoch, last_start = epoch, start
    entries = dict(cache)
    for epoch, offset in starts:
        if entries.pop(epoch, None) != offset:
            return f"epoch {epoch} begins at offset {offset}, but the epoch cache does not say so"
    for epoch, start in entries.items():
        if start > leo:
            return f"the epoch cache has epoch {epoch} at {start}, beyond the log end offset {leo}"
        if start < leo:
            return f"the epoch cache has epoch {epoch} at {start}, in the middle of the records of another epoch"
    return None
