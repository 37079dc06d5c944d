"""From the nodes' trace files to the trace of a history (docs/history.md)."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections import defaultdict
from itertools import count
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from tidemark.checkers.history.trace_events import (
    KIND,
    NODE,
    PARTITION,
    TIME,
    Append,
    Follow,
    Lead,
    LogStart,
    Recovered,
    Start,
    Stop,
    TraceEvent,
    Truncate,
)
from tidemark.harness.evidence.run_error import RunError
from tidemark.nodes.admin.trace_file import OF_ITS_OWN_TIME, WITH_BATCH
from tidemark.nodes.core.messages import CONTROLLER
from tidemark.nodes.formats.bad_batch import BadBatchError
from tidemark.nodes.formats.record_batch import values_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from tidemark.harness.evidence.replica_evidence import ReplicaEvidence

_START = re.compile(r'\[\d+,\d+,"start",.*')


class TracedAnswer(NamedTuple):
    """What a leader told a follower about where its log ends: to an ``OffsetForLeaderEpoch``, or, where ``offset`` is not None,
    to a fetch from there after records of the epoch ``asked``.
    """

    time: int
    follower: int
    partition: str
    asked: int
    offset: int | None
    epoch: int
    end: int


def parse_trace(text: str, name: str) -> list[list[Any]]:
    """The events of a trace file. A line that a killed process did not write to its end is left out.

    Args:
        text: of the file.
        name: of the node, for errors.

    Raises:
        RunError: a line in the middle of a process's life is damaged.
    """
    lines = text.split("\n")
    events: list[list[Any]] = []
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        try:
            events.append(json.loads(line))
        except ValueError:
            after_the_torn_one = _START.search(line, 1)
            if after_the_torn_one is not None:
                events.append(json.loads(after_the_torn_one[0]))
            elif number < len(lines) and not _begins_a_life(lines[number]):
                raise RunError(
                    f"line {number} of {name}'s trace is damaged, so the history would not be whole"
                ) from None
    return events


def _begins_a_life(line: str) -> bool:
    return not line or _START.match(line) is not None


class TraceHistory:
    """Collects the nodes' events, decoded and timed, and puts them in order with the harness's.

    Args:
        began_us: CLOCK_MONOTONIC at time 0 of the run. What happened before is told as of time 0, in order.
    """

    def __init__(self, began_us: int) -> None:
        self._began_us = began_us
        self._values: dict[str, tuple[int, ...]] = {}
        self.events: dict[int, list[TraceEvent]] = {}
        self.answers: list[TracedAnswer] = []

    def add(self, node: int, events: Iterable[Sequence[Any]], clock_us: int = 0) -> None:
        """The events of one node, in the order of its file.

        Args:
            node: its id.
            events: as :func:`parse_trace` gives them.
            clock_us: how far its clock is ahead of the one that measured ``began_us``.

        Raises:
            RunError: a traced batch cannot be read.
        """
        kept: list[TraceEvent] = []
        latest = -1 << 62
        for mono_us, _, event, partition, *fields in events:
            if event in OF_ITS_OWN_TIME:
                at = mono_us - clock_us - self._began_us
                kept.append((at, node, event, partition, *map(_tuples, fields)))
                continue
            # Within a step a later line may carry the step's earlier time.
            latest = max(latest, mono_us - clock_us - self._began_us)
            if event == "answer":
                self.answers.append(TracedAnswer(max(latest, 0), node, partition, *fields))
            elif event in WITH_BATCH:
                base, epoch, raw = fields
                kept.append((latest, node, event, partition, base, epoch, self._decoded(raw)))
            elif node != CONTROLLER or event not in {"start", "stop"}:
                kept.append((latest, node, event, partition, *map(_tuples, fields)))
        self.events[node] = kept

    def _decoded(self, raw: str) -> tuple[int, ...]:
        values = self._values.get(raw)
        if values is None:
            try:
                values = values_of(b64decode(raw))
            except (BadBatchError, ValueError) as error:
                raise RunError(f"a traced batch cannot be read: {error}") from None
            self._values[raw] = values
        return values

    def trace(
        self,
        harness: Iterable[TraceEvent],
        seen: ReplicaEvidence,
        excused: Container[tuple[int, int]] = (),
    ) -> list[TraceEvent]:
        """The whole trace.

        Args:
            harness: its own events, with times of the run.
            seen: the nodes' events, and what their log files hold at the end.
            excused: (node, incarnation) of processes whose disk a fault had filled, or that were started before they could start.
                That they gave up is told as a crash: ``stop`` ``fatal`` is for what the protocol brought them to.
        """
        known = _batches(seen)
        nodes = [_with_losses(_with_crashes(events, excused), known) for events in seen.events.values()]
        ours = [_with_log(event, seen) for event in harness]
        merged = sorted([event for events in (*nodes, ours) for event in events], key=itemgetter(TIME))
        return [event if event[TIME] >= 0 else (0, *event[1:]) for event in merged]


def _with_log(event: TraceEvent, seen: ReplicaEvidence) -> TraceEvent:
    """A ``final`` with the log as the system interprets it: an old message format tells no leader epochs."""
    log = seen.segments.get(event[NODE], {}).get(event[PARTITION]) if event[KIND] == "final" else None
    return event if log is None else (*event[:-1], tuple(log))


def _batches(seen: ReplicaEvidence) -> _Batches:
    """Every batch that anybody traced, or has in a file at the end."""
    known: _Batches = defaultdict(dict)
    for events in seen.events.values():
        for batch in Append.among(events):
            known[batch.partition, batch.base_offset][batch.epoch] = batch.values
    for partitions in seen.segments.values():
        for name, segment in partitions.items():
            for base, epoch, values in segment:
                known[name, base].setdefault(epoch, values)
    return known


_Batches = dict[tuple[str, int], dict[int, tuple[int, ...]]]
"""(partition, base offset) → leader epoch → values."""


def _with_crashes(events: list[TraceEvent], excused: Container[tuple[int, int]]) -> list[TraceEvent]:
    """One node's events with the ends of excused processes told as crashes."""
    told: list[TraceEvent] = []
    life = (0, 0)
    for event in events:
        time, node, name, *_ = event
        if name == "start":
            life = (node, Start(event).incarnation)
        ends_so = name == "stop" and Stop(event).how == "fatal" and life in excused
        told.append((time, node, name, "", "crash") if ends_so else event)
    return told


class _LogEnds:
    """Where the batches of one replica's log end: its length is told across the holes that a cut through a batch leaves."""

    def __init__(self) -> None:
        self.base = 0
        self.ends: list[int] = []
        self.epoch = -1

    @property
    def leo(self) -> int:
        return self.ends[-1] if self.ends else self.base

    def cut(self, to: int) -> None:
        while self.ends and self.ends[-1] > to:
            self.ends.pop()
        self.base = min(self.base, to)

    def begin_at(self, offset: int) -> None:
        self.base = offset
        self.ends.clear()


def _with_losses(events: list[TraceEvent], known: _Batches) -> list[TraceEvent]:
    """One node's events with what only a replay tells: how many records each recovery lost.

    A batch reaches the log file just before the trace file. A process that was killed in between leaves a batch that nobody
    traced, and that its successor finds: its ``append`` is put in at the end of the life that wrote it.
    """
    logs: dict[str, _LogEnds] = defaultdict(_LogEnds)
    told: list[TraceEvent] = []
    began = 0
    unknown = count(1)
    for place, event in enumerate(events):
        time, node, name, partition = event[: PARTITION + 1]
        log = logs[partition]
        if name == "start":
            began = len(told)
        elif name == "append":
            log.ends.append(Append(event).base_offset + len(Append(event).values))
        elif name == "truncate":
            log.cut(Truncate(event).to)
        elif name == "log-start" and LogStart(event).how == "begin-anew":
            log.begin_at(LogStart(event).start)
        elif name == "removed":
            log.begin_at(0)
        elif name in {"lead", "follow"}:
            log.epoch = (Lead if name == "lead" else Follow)(event).leader_epoch
        elif name == "recovered" and (found := Recovered(event)).lost >= 0:
            log.cut(found.leo)  # what was lost, it tells itself
        elif name == "recovered":
            leo, hw = found.leo, found.hw
            if log.leo < leo == _found_start(events, place):
                log.begin_at(leo)  # it ended below its log start, and begins anew there
            before = told[began - 1][0] if began else time
            for base, epoch, values in _untraced(known, partition, log, leo, unknown):
                told.insert(began, (before, node, "append", partition, base, epoch, values))
                began += 1
                log.ends.append(base + len(values))
            lost = log.leo - leo
            log.cut(leo)
            told.append((time, node, name, partition, leo, hw, lost))
            continue
        told.append(event)
    return told


def _found_start(events: list[TraceEvent], place: int) -> int:
    """The log start that the recovery at this place found."""
    after = LogStart.among(events[place + 1 : place + 2], events[place][PARTITION])
    return next((moved.start for moved in after if moved.how == "recovered"), 0)


def _untraced(
    known: _Batches, partition: str, log: _LogEnds, leo: int, unknown: Iterator[int]
) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """Batches that fill a log up to ``leo``: from other replicas, or the files at the end; else of values nobody sent.

    The values of a batch that no replica traced and no file holds were seen by nobody, so any will do.
    """
    while (base := log.leo) < leo:
        found = {e: v for e, v in known.get((partition, base), {}).items() if e <= log.epoch and base + len(v) <= leo}
        if not found:
            yield base, max(log.epoch, 0), tuple(-next(unknown) for _ in range(leo - base))
            return
        epoch = max(found)
        yield base, epoch, found[epoch]


def _tuples(value: object) -> object:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
