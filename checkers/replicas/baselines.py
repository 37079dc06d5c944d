"""What was committed: per partition a log of its own, the baseline, and what it can be asked.

:mod:`tidemark.checkers.replicas.committed` makes it from the trace, and says how.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from tidemark.checkers.history.client_view import Ack, KeyView
from tidemark.checkers.history.history import Value
from tidemark.checkers.history.trace_events import KIND, TIME, Hw, Lead, TraceEvent
from tidemark.checkers.replicas.replayed_replica import HOLE, Record, ReplayedReplica, ReplayedReplicas

_value = itemgetter(1)
"""Of a `Record`, and of what a poll returned."""

NOWHERE = -1
"""The epoch of an acknowledged record that no replica ever held, and its offset if the client was not told."""


@dataclass(slots=True)
class Loss:
    """A committed record that a later leader does not have.

    `committed` and `destroyed` are trace indices. `commit_leader` and `commit_epoch` tell whose high watermark
    passed it; they are `None` if only an acknowledgement committed it. `how` is ``election`` (missing when
    `leader` took over), ``own-log`` (the leader removed it from its own log) or ``end`` (missing from the log
    of the leader of the last epoch when the trace ended) or ``nowhere`` (a reassignment took that one away, nobody leads since,
    and it is missing from the logs of all replicas; the last leader may still have it).
    """

    partition: str
    offset: int
    record: Record
    committed: int
    commit_time: int
    commit_leader: int | None
    commit_epoch: int | None
    destroyed: int
    leader: ReplayedReplica
    leader_epoch: int
    how: str
    instead: Record | None


@dataclass(slots=True)
class Baseline:
    """Of a partition: what is committed by offset, what is beside it, and what went."""

    partition: str
    records: list[Record] = field(default_factory=list)
    chain: list[int] = field(default_factory=lambda: [0])
    commits: list[int] = field(default_factory=list)
    """Per offset, the trace index of the event that committed the record."""
    others: dict[tuple[int, Record], int] = field(default_factory=dict)
    """Committed beside the baseline, by a deposed leader or by acknowledgement only, with the trace index."""
    acked_only: set[tuple[int, Record]] = field(default_factory=set)
    compared: dict[tuple[int, int], int] = field(default_factory=dict)
    """Per (leader, epoch) whose log differs from the baseline: up to where the differences are in `others`."""
    lost: set[tuple[int, Record]] = field(default_factory=set)
    lost_values: set[Value] = field(default_factory=set)
    deleted: set[tuple[int, Record]] = field(default_factory=set)
    """What was deleted on purpose, and its values below."""
    deleted_values: set[Value] = field(default_factory=set)
    gone: int = 0
    """All records of the baseline below were deleted on purpose, or were reported."""
    leader: ReplayedReplica | None = None
    epoch: int = -1
    elected_epoch: int = -1
    acks: list[Ack] = field(default_factory=list)
    acks_taken: int = 0


class Baselines:
    """The baselines of a run, and the `losses`: what a later leader did not have, in order of discovery."""

    _replicas: ReplayedReplicas

    def __init__(self, trace: Sequence[TraceEvent], keys: Mapping[str, KeyView]) -> None:
        self.losses: list[Loss] = []
        self._trace = trace
        self._keys = keys
        self._baselines: dict[str, Baseline] = {}
        self._by_offset: dict[tuple[str, int], list[Loss]] = {}
        self._listed = 0

    def newest_leader(self, partition: str) -> ReplayedReplica | None:
        """The replica that led the highest epoch so far, whether or not it still does."""
        return self._baseline(partition).leader

    def _baseline(self, partition: str) -> Baseline:
        base = self._baselines.get(partition)
        if base is None:
            base = self._baselines[partition] = Baseline(partition)
            view = self._keys.get(partition)
            if view is not None:
                base.acks = [ack for ack in view.acked.values() if ack[4] == "all"]  # by place, for speed
        return base

    def deleted_values(self, partition: str) -> set[Value]:
        """The values that were deleted on purpose."""
        base = self._baselines.get(partition)
        return base.deleted_values if base is not None else set()

    def committed_at(self, partition: str, offset: int, record: Record) -> int | None:
        """The trace index of the event that committed a record that is committed now, `None` if it is not."""
        base = self._baseline(partition)
        if base.records[offset : offset + 1] == [record]:
            return base.commits[offset]
        return base.others.get((offset, record))

    def had_committed(self, partition: str, records: Sequence[tuple[int, Value]], time: int) -> bool:
        """Whether consecutive records, as ``(offset, value)``, are all in the baseline as it is now, and were by a time in µs.

        `False` decides nothing: see `time_of` for each.
        """
        base = self._baseline(partition)
        begin = records[0][0]
        end = begin + len(records)
        if records[-1][0] != end - 1:
            return False
        if list(map(_value, base.records[begin:end])) != list(map(_value, records)):
            return False
        return self.time_at(max(base.commits[begin:end])) <= time

    def time_of(self, partition: str, offset: int, value: Value) -> int | None:
        """When a leader's high watermark first passed a record, in µs, as far as is known; `None` if none ever did.

        What was deleted on purpose had been committed, nobody remembers when: 0.
        """
        base = self._baseline(partition)
        if value in base.deleted_values:
            return 0
        times = [
            loss.commit_time
            for loss in self._losses_at(partition, offset)
            if loss.record[1] == value and loss.commit_leader is not None
        ]
        if offset < len(base.records) and base.records[offset][1] == value:
            times.append(self.time_at(base.commits[offset]))
        times += [
            self._trace[at][TIME]
            for place, at in base.others.items()
            if place[0] == offset and place[1][1] == value and place not in base.acked_only
        ]
        return min(times, default=None)

    def _losses_at(self, partition: str, offset: int) -> Sequence[Loss]:
        """What was lost at an offset, as far as is known; looked up in a table that is made when the losses have grown."""
        if self._listed != len(self.losses):
            self._by_offset = {}
            for loss in self.losses:
                self._by_offset.setdefault((loss.partition, loss.offset), []).append(loss)
            self._listed = len(self.losses)
        return self._by_offset.get((partition, offset), ())

    def another_at(self, partition: str, offset: int, value: Value, time: int) -> tuple[Value, int] | None:
        """Another record that was committed at an offset at a time, in µs, and since when; `None` if there was none.

        Only what was committed in a later epoch than the one the record was written in: a leader of old may commit another one
        beside it, and then that one is the stale one.
        """
        base = self._baseline(partition)
        known: list[tuple[int, int, Value]] = []
        if offset < len(base.records) and base.records[offset] != HOLE:
            at = base.commits[offset]
            known.append((self.time_at(at), self._epoch_at(base, at), base.records[offset][1]))
        known += [
            (loss.commit_time, loss.commit_epoch, loss.record[1])
            for loss in self._losses_at(partition, offset)
            if loss.commit_epoch is not None and self.time_at(loss.destroyed) > time
        ]
        others = [(since, epoch, other) for since, epoch, other in known if other != value and since <= time]
        if not others:
            return None
        written = self._written_in(partition, offset, value)
        later = [(since, other) for since, epoch, other in others if epoch > written]
        since, other = min(later, default=(0, value), key=itemgetter(0))
        return None if other == value else (other, since)

    def _written_in(self, partition: str, offset: int, value: Value) -> int:
        """The newest epoch in which some replica has, or had, a value at an offset; `NOWHERE` if none does."""
        found = NOWHERE
        for first, records in self._held(partition):
            record = records[offset - first] if 0 <= offset - first < len(records) else HOLE
            if record[1] == value:
                found = max(found, record[0])
        return found

    def _held(self, partition: str) -> Iterator[tuple[int, list[Record]]]:
        """What each replica has, and what it had and lost, as an offset and the records from there on."""
        for replica in self._replicas.by_partition.get(partition, ()):
            yield 0, replica.records
            for removal in replica.removals:
                yield removal.to, removal.records

    def _epoch_at(self, base: Baseline, committed: int) -> int:
        """The leader epoch of the event that committed something."""
        if committed >= len(self._trace):
            return base.epoch
        event = self._trace[committed]
        if event[KIND] == "hw":
            return Hw(event).leader_epoch
        return Lead(event).leader_epoch if event[KIND] == "lead" else base.epoch

    def time_at(self, index: int) -> int:
        """The time of a trace index, in µs; the end of the trace comes after its last event."""
        time: int = self._trace[index][TIME] if index < len(self._trace) else self._trace[-1][TIME] + 1
        return time

    def index_after(self, time: int) -> int:
        """The first trace index later than `time`: trace comes before operations of the same time."""
        return bisect_right(self._trace, time, key=itemgetter(TIME))
