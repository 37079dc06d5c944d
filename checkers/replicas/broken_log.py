"""`broken-log`: a log that is not a log: offsets with gaps or overlaps, epochs that decrease, a log start beyond the
log's end, half a batch that a recovery left, an epoch cache that lies.

Checked for every append and log start, once per replica, for every recovery, and for every replica that runs at the end. A gap is
none where all that is missing was deleted on purpose, by whomever. The hole that a cut inside a batch leaves (docs/history.md,
`hole`) is one as soon as the replica leads, or fetches from behind it: then it counts as one that has what lies there. (Started
again before, it is whole: Kafka takes the log's end from the file.) The epoch cache must rise strictly in epochs and in start
offsets; each epoch of the log must have its entry at the epoch's first record that is not deleted; an entry for an epoch without
records must lie between the records of lower and of higher epochs, and not beyond the log's end.

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(trace=[
...     (10, 1, "append", "t-0", 0, 1, (7,)),
...     (20, 1, "append", "t-0", 2, 1, (8,)),
... ]))
>>> print(verdict.anomalies[0].message)
Broker 1 wrote a batch at offset 2 of t-0 at 0.000020 s, but its log ended at 1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from tidemark.checkers.history.history import Value
from tidemark.checkers.history.trace_events import (
    KIND,
    NODE,
    PARTITION,
    TIME,
    Append,
    Epochs,
    Fetched,
    Final,
    Hole,
    Lead,
    LogStart,
    TraceEvent,
)
from tidemark.checkers.replicas.finder import Finder
from tidemark.checkers.replicas.replayed_replica import HOLE, Removal, ReplayedReplica
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

    def __init__(self, trace: Sequence[TraceEvent], *, epoch_cache: bool = True) -> None:
        super().__init__()
        self._trace = trace
        self._epoch_cache = epoch_cache
        self._told: dict[tuple[str, int], tuple[str, ...]] = {}
        """What was told of a replica when it happened: its final log is not told of for the same."""
        self._cut_to: defaultdict[ReplayedReplica, set[int]] = defaultdict(set)
        """The log starts to which a replica's epoch cache was cut. A recovery that drops records may have made up for the later."""
        self._holes: dict[ReplayedReplica, Hole] = {}
        """The last hole of a replica of which nobody knows yet."""
        self._lied: dict[tuple[str, int], tuple[str, str | None]] = {}
        """What was told of a replica's epoch cache after a recovery, and by which clause it is permitted."""
        self._looked_at: _Look | None = None
        self._found: tuple[str | None, list[tuple[int, int]]] = None, []
        """Of the final log that was looked at last, and what was found: the next replica's is mostly the same."""

    def on_log_start(self, index: int, event: LogStart, replica: ReplayedReplica, previous: int) -> None:
        """The epoch cache is cut with the log. A log must not start beyond its end."""
        time, node, partition, start, how = event.time, event.node, event.partition, event.start, event.how
        anew = how == "begin-anew"
        if anew:
            self._cut_to[replica].clear()
        self._cut_to[replica].add(replica.start)
        leo = len(replica.records)
        if start > leo and self.is_new((partition, node)):
            message = (
                f"The log of broker {node} for {partition} starts at offset {start} since {seconds(time)} ({how}), but ends at "
                f"{leo}."
            )
            evidence = {"node": node, "start": start, "how": how, "leo": leo, "trace_index": index}
            self.anomalies.append(Anomaly(NAME, VIOLATION, time, partition, message, evidence=evidence))

    def on_removed(self, index: int, replica: ReplayedReplica, removal: Removal) -> None:
        """What is written there now has its epochs. A recovery keeps whole batches (``LogSegment.recover``)."""
        self._cut_to[replica] = {min(start, removal.to) for start in self._cut_to[replica]}
        event = self._trace[index] if index < len(self._trace) else None
        if event is None or event[KIND] != "recovered" or not removal.records or removal.to <= replica.start:
            return
        batch = self._batch_across(index, replica, removal)
        if batch is not None:
            left = removal.to - batch.base_offset
            message = (
                f"The log of broker {event[NODE]} for {event[PARTITION]} ended at offset {removal.to} after the recovery at "
                f"{seconds(event[TIME])}, inside a batch: of its {len(batch.values)} records from offset {batch.base_offset} on "
                f"{left} {'was' if left == 1 else 'were'} left."
            )
            evidence = {"node": event[NODE], "base_offset": batch.base_offset, "leo": removal.to, "trace_index": index}
            self.anomalies.append(Anomaly(NAME, VIOLATION, event[TIME], event[PARTITION], message, evidence=evidence))

    def _batch_across(self, index: int, replica: ReplayedReplica, removal: Removal) -> Append | None:
        """The batch of which a removal left only the beginning, if there is one."""
        for at in range(index - 1, -1, -1):
            event = self._trace[at]
            if event[KIND] == "append" and event[NODE] == replica.node and event[PARTITION] == replica.partition:
                batch = Append(event)
                if batch.base_offset < removal.to:
                    return batch if batch.wrote(removal.to, removal.records[0]) else None
        return None

    def on_epochs(self, index: int, event: Epochs, replica: ReplayedReplica) -> None:
        """The epoch cache of a log that was just recovered."""
        leo = len(replica.records)
        place = event.partition, event.node
        wrong, clause = self._wrong_cache(replica, event.cache, leo, partial(_starts, replica))
        if wrong is not None and replica.start <= leo and not self._has_told(place, wrong):
            self._lied[place] = wrong, clause
            message = f"The recovered log of broker {event.node} for {event.partition} is broken at {seconds(event.time)}: {wrong}."
            evidence = {
                "leo": leo,
                "cache": event.cache,
                "epochs": _starts(replica, replica.start),
                "trace_index": index,
            }
            self._tell_of_cache(event, message, clause, evidence)

    def on_hole(self, index: int, event: Hole, replica: ReplayedReplica) -> None:
        """It is nobody's affair until the replica counts as one that has what lies there."""
        self._holes[replica] = event

    def on_fetched(self, index: int, event: Fetched, replica: ReplayedReplica, leader: ReplayedReplica) -> None:
        """Its leader takes it for one that has all up to where it fetches."""
        if self._holes:
            self._uncover(index, event.time, replica)

    def on_lead(self, index: int, event: Lead, replica: ReplayedReplica) -> None:
        """Others will follow it across the hole."""
        if self._holes:
            self._uncover(index, event.time, replica)

    def _uncover(self, index: int, time: int, replica: ReplayedReplica) -> None:
        hole = self._holes.pop(replica, None)
        node, partition = replica.node, replica.partition
        if hole is None or (partition, node) in self._told or hole.leo <= self._replicas.deleted.get(partition, 0):
            return
        if replica.records[hole.begin : hole.leo] != [HOLE] * (hole.leo - hole.begin):
            return
        self._told[partition, node] = _gap(hole.leo, hole.begin), _short(hole.leo, hole.begin)
        message = (
            f"The log of broker {node} for {partition} has a hole since {seconds(hole.time)}: a cut fell inside a batch, and the "
            f"whole batch went. The log goes on at offset {hole.leo}, and nothing is there from offset {hole.begin} on."
        )
        evidence = {"node": node, "begin": hole.begin, "leo": hole.leo, "trace_index": index}
        self.anomalies.append(Anomaly(NAME, VIOLATION, time, partition, message, evidence=evidence))

    def on_misfit(self, index: int, event: TraceEvent, replica: ReplayedReplica) -> None:
        """The batch does not continue the log."""
        time, node, _, partition, base_offset, epoch, _ = event
        if (partition, node) in self._told:
            return
        leo = len(replica.records)
        last_epoch = replica.records[-1][0] if replica.records else -1
        if base_offset == leo <= replica.start:  # nothing is left of what came before
            return
        if leo < base_offset <= self._replicas.deleted.get(partition, 0) and epoch >= last_epoch:
            return
        self._told[partition, node] = (_gap(base_offset, leo),)
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
        node, partition = event.node, event.partition
        leo, cache, batches = event.leo, event.cache, event.batches
        deleted = self._replicas.deleted.get(partition, 0)
        what = batches, leo, replica.start, deleted
        if what != self._looked_at:
            self._looked_at, self._found = what, _broken_batches(*what)
        wrong, starts = self._found
        clause = None
        if wrong is None:
            wrong, clause = self._wrong_cache(
                replica,
                cache,
                leo,
                lambda start: starts if start == replica.start else _broken_batches(batches, leo, start, deleted)[1],
            )
            if wrong is not None and self._has_told((partition, node), wrong):
                return
        if wrong is not None and wrong not in self._told.get((partition, node), ()):
            message = f"The final log of broker {node} for {partition} is broken: {wrong}."
            evidence = {"leo": leo, "cache": cache, "epochs": starts, "trace_index": index}
            self._tell_of_cache(event, message, clause, evidence)

    def _has_told(self, place: tuple[str, int], wrong: str) -> bool:
        """Whether this was told of an epoch cache before, or anything that nothing permits."""
        words, clause = self._lied.get(place, ("", ""))
        return words == wrong or clause is None

    def _tell_of_cache(
        self, event: Epochs | Final, message: str, clause: str | None, evidence: Mapping[str, object]
    ) -> None:
        verdict = VIOLATION if clause is None else PERMITTED
        told = {"node": event.node, **evidence}
        self.anomalies.append(Anomaly(NAME, verdict, event.time, event.partition, message, clause, evidence=told))

    def _wrong_cache(
        self,
        replica: ReplayedReplica,
        cache: Sequence[tuple[int, int]],
        leo: int,
        starts_from: Callable[[int], list[tuple[int, int]]],
    ) -> tuple[str | None, str | None]:
        """What is wrong with an epoch cache, if anything; and the clause, if it is in order but for what it lost with an earlier
        log start. `starts_from` says where each epoch of the log begins, from an offset on.
        """
        if not cache and not self._epoch_cache:
            return None, None
        in_use = self._in_use(replica, cache)
        wrong = _broken_cache(in_use, starts_from(replica.start), leo)
        excused = wrong is not None and any(
            _broken_cache(in_use, starts_from(start), leo) is None
            for start in self._cut_to[replica]
            if replica.start < start <= leo
        )
        return wrong, LOG_START_FORGOTTEN if excused else None

    def _in_use(self, replica: ReplayedReplica, cache: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
        """The cache without an epoch of which all was deleted, and in whose place the next one begins (up to KAFKA-7415)."""
        cut_to = max(self._cut_to[replica], default=0)
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
        return _short(leo, expected), starts
    return None, starts


def _starts(replica: ReplayedReplica, start: int) -> list[tuple[int, int]]:
    """Where each epoch of a log begins, from an offset on."""
    starts: list[tuple[int, int]] = []
    for offset, record in enumerate(replica.records[start:], start):
        if record != HOLE and record[0] != (starts[-1][0] if starts else -1):
            starts.append((record[0], offset))
    return starts


def _gap(base_offset: int, expected: int) -> str:
    return f"a batch begins at offset {base_offset} where {expected} comes next"


def _short(leo: int, end: int) -> str:
    return f"its log end offset is {leo}, but its records end at {end}"


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
