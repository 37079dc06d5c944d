"""The committed baseline: which records leaders' high watermarks said would stay, and which of them did not.

Per partition the baseline is a log of its own. It grows when a leader's high watermark passes records (looked
up in *that* leader's log), and is compared with the log of every new leader when it takes over. A leader that
was deposed and does not know it can still commit: where its record differs from the baseline's, both are
committed at one offset, and both are looked for in the later logs. A record acknowledged under acks=all counts
as committed even if no high watermark passed it.

After a loss the baseline continues with what the new leader has, so each destroyed record is reported once.

What was deleted on purpose is not lost: the records that a client's request, or a broker's own retention, took from a
log below its high watermark. They are remembered as records, not as offsets: others that come to lie at the same
offsets later are not excused.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import itemgetter

from tidemark.checkers.history.client_view import Ack, KeyView
from tidemark.checkers.history.history import TraceEvent, Value
from tidemark.checkers.replicas.replica_state import (
    HOLE,
    Record,
    Removal,
    ReplayedReplica,
    ReplayedReplicas,
    TraceChecker,
    agree,
    first_difference,
)

ON_PURPOSE = ("delete-records", "retention")
"""How a log start moves when somebody wants records to go (docs/history.md, `log-start`)."""

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
    of the leader of the last epoch when the trace ended; or, if a reassignment took that one away and nobody
    leads since, from the logs of all replicas).
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
class _Baseline:
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


class Committed(TraceChecker):
    """Follows the baselines through the trace and collects `losses`, in order of discovery."""

    def __init__(self, trace: Sequence[TraceEvent], keys: Mapping[str, KeyView]) -> None:
        self.losses: list[Loss] = []
        self._trace = trace
        self._keys = keys
        self._baselines: dict[str, _Baseline] = {}
        self._replicas = ReplayedReplicas()
        self._by_offset: dict[tuple[str, int], list[Loss]] = {}
        self._listed = 0

    def on_begin(self, replicas: ReplayedReplicas) -> None:
        """Remember where the replicas are found."""
        self._replicas = replicas

    def newest_leader(self, partition: str) -> ReplayedReplica | None:
        """The replica that led the highest epoch so far, whether or not it still does."""
        return self._baseline(partition).leader

    def _baseline(self, partition: str) -> _Baseline:
        base = self._baselines.get(partition)
        if base is None:
            base = self._baselines[partition] = _Baseline(partition)
            view = self._keys.get(partition)
            if view is not None:
                base.acks = [ack for ack in view.acked.values() if ack.acks == "all"]
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
            self._trace[at][0]
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

    def on_log_start(self, index: int, event: TraceEvent, replica: ReplayedReplica, previous: int) -> None:
        """Note what is deleted on purpose. A leader must not lose anything else to its log start."""
        base = self._baselines.get(replica.partition) or self._baseline(replica.partition)
        if event[6] in ON_PURPOSE:
            end = min(replica.start, replica.hw)
            for offset, record in enumerate(replica.records[previous:end], previous):
                base.deleted.add((offset, record))
                base.deleted_values.add(record[1])
        if replica.start > previous and self._is_newest(base, replica):
            self._compare(base, index, replica, "own-log")

    def _is_newest(self, base: _Baseline, replica: ReplayedReplica) -> bool:
        """Whether this replica leads, and nobody was elected since."""
        return replica.leading and replica is base.leader and replica.epoch == base.epoch >= base.elected_epoch

    def on_elect(self, index: int, event: TraceEvent) -> None:
        """Remember the newest epoch: a leader that has been deposed may truncate."""
        base = self._baseline(event[3])
        base.elected_epoch = max(base.elected_epoch, event[5])

    def on_leader_hw(self, index: int, event: TraceEvent, replica: ReplayedReplica, previous: int) -> None:
        """Commit what the high watermark passed."""
        base = self._baselines.get(replica.partition) or self._baseline(replica.partition)
        self._commit(base, index, event[4], event[5], replica)

    def _commit(self, base: _Baseline, index: int, hw: int, epoch: int, leader: ReplayedReplica) -> None:
        chain, its_chain = leader.chain, base.chain
        end = hw if 0 <= hw < len(chain) else max(0, min(hw, len(chain) - 1))
        known = len(base.records)
        grows = end > known
        shared = known if grows else end
        differs = leader.start or chain[shared] != its_chain[shared]
        if differs and not agree(chain, its_chain, min(leader.start, shared), shared):
            self._commit_beside(base, index, shared, epoch, leader)
        if grows:
            added = leader.records[known:end]
            if base.lost:
                self._commit_again(base, added, known)
            base.records += added
            base.commits += [index] * (end - known)
            its_chain += _moved(chain, known, end, its_chain[-1]) if differs else chain[known + 1 : end + 1]

    @staticmethod
    def _commit_again(base: _Baseline, records: Sequence[Record], begin: int) -> None:
        """What was lost, came back and is committed anew can be lost anew."""
        for offset, record in enumerate(records, begin):
            base.lost.discard((offset, record))

    def _commit_beside(self, base: _Baseline, index: int, end: int, epoch: int, leader: ReplayedReplica) -> None:
        begin = base.compared.get((leader.node, epoch))
        if begin is None:
            begin = first_difference(leader.chain, base.chain, end, min(leader.start, end))
        for offset in range(begin, end):
            record = leader.records[offset]
            if record != base.records[offset] and (offset, record) not in base.lost:
                base.others.setdefault((offset, record), index)
        base.compared[leader.node, epoch] = max(begin, end)

    def on_lead(self, index: int, event: TraceEvent, replica: ReplayedReplica) -> None:
        """Look for everything committed in the new leader's log, unless its epoch is old and it only comes late."""
        base = self._baseline(replica.partition)
        epoch, hw = event[4], event[6]
        if epoch < base.epoch:
            return
        base.epoch = epoch
        base.leader = replica
        self._take_acks(base, event[0])
        self._compare(base, index, replica, "election")
        self._commit(base, index, hw, epoch, replica)

    def on_removed(self, index: int, replica: ReplayedReplica, removal: Removal) -> None:
        """A leader must not remove committed records from its own log."""
        base = self._baseline(replica.partition)
        if self._is_newest(base, replica) and removal.to < len(base.records):
            self._compare(base, index, replica, "own-log")

    def on_end(self, index: int, replicas: ReplayedReplicas) -> None:
        """Compare with the last leader what was committed beside it: by deposed leaders, or by acknowledgement only.

        Where the last leader is no replica any more, and has no successor, see what the replicas have.
        """
        for partition in sorted(set(self._baselines) | set(replicas.by_partition)):
            base = self._baseline(partition)
            if base.leader is None:
                continue
            if not base.leader.assigned:
                self._take_acks(base, None)
                self._lose_what_nobody_has(base, index, base.leader)
            elif base.leader.leading and base.leader.epoch == base.epoch:
                self._take_acks(base, None)
                self._compare(base, index, base.leader, "end")

    def _lose_what_nobody_has(self, base: _Baseline, index: int, last: ReplayedReplica) -> None:
        assigned = [replica for replica in self._replicas.by_partition[base.partition] if replica.assigned]
        committed = {
            (o, record): base.commits[o] for o, record in enumerate(base.records) if o >= base.gone
        } | base.others
        for (offset, record), at in committed.items():
            wanted = record != HOLE and (offset, record) not in base.deleted
            if wanted and not any(replica.has(offset, record) for replica in assigned):
                self._lose(base, index, last, "end", offset, record, at)

    def _take_acks(self, base: _Baseline, before: int | None) -> None:
        """Note the acks=all records acknowledged before a time (all, if `None`) that no high watermark has passed."""
        records = base.records
        known = len(records)
        for ack in islice(base.acks, base.acks_taken, None):
            time, _, value, offset, _ = ack
            if before is not None and time >= before:
                break
            base.acks_taken += 1
            if offset is not None and offset < known and records[offset][1] == value:
                continue
            if value not in base.lost_values and value not in base.deleted_values:
                place = self._place_of(base, ack)
                if place not in base.others:
                    base.others[place] = self.index_after(ack.time)
                    base.acked_only.add(place)

    def _place_of(self, base: _Baseline, ack: Ack) -> tuple[int, Record]:
        """Where a replica has or had an acknowledged record, and in which epoch; `NOWHERE` for what is not known."""
        for first, records in self._held(base.partition):
            for offset, record in enumerate(records, start=first):
                if record[1] == ack.value and ack.offset in (None, offset):
                    return offset, record
        return NOWHERE if ack.offset is None else ack.offset, (NOWHERE, ack.value)

    def _compare(self, base: _Baseline, index: int, leader: ReplayedReplica, how: str) -> None:
        """Report what `leader` does not have, and go on with what it has."""
        known = len(base.records)
        shared = min(known, len(leader.records))
        start = min(leader.start, shared)
        same = agree(leader.chain, base.chain, start, shared)
        if same and shared == known and not base.others and leader.start <= base.gone:
            return
        self._compare_below(base, index, leader, how)
        begin = shared if same else first_difference(leader.chain, base.chain, shared, start)
        kept = begin
        for offset in range(begin, known):
            record = base.records[offset]
            if leader.has(offset, record) or record == HOLE:
                kept = offset + 1
            elif (offset, record) not in base.deleted:
                base.acked_only.discard((offset, record))
                self._lose(base, index, leader, how, offset, record, base.commits[offset])
                base.commits[offset] = index
        del base.commits[kept:]
        base.records = [*base.records[:start], *leader.records[start:kept]]
        base.chain = [*base.chain[: start + 1], *_moved(leader.chain, start, kept, base.chain[start])]
        base.gone = min(base.gone, kept)
        self._compare_others(base, index, leader, how)

    def _compare_below(self, base: _Baseline, index: int, leader: ReplayedReplica, how: str) -> None:
        """Report what lies below the leader's log start, and nobody deleted on purpose."""
        end = min(leader.start, len(base.records))
        for offset in range(base.gone, end):
            record = base.records[offset]
            if record != HOLE and (offset, record) not in base.deleted:
                base.acked_only.discard((offset, record))
                self._lose(base, index, leader, how, offset, record, base.commits[offset])
        base.gone = max(base.gone, end)

    def _compare_others(self, base: _Baseline, index: int, leader: ReplayedReplica, how: str) -> None:
        others, base.others = base.others, {}
        base.compared.clear()
        for (offset, record), committed in others.items():
            if not leader.has(offset, record):
                if (offset, record) not in base.deleted:
                    self._lose(base, index, leader, how, offset, record, committed)
            elif offset >= len(base.records):
                base.others[offset, record] = committed
            elif (offset, record) not in base.acked_only:
                base.commits[offset] = min(base.commits[offset], committed)

    def _lose(
        self,
        base: _Baseline,
        index: int,
        leader: ReplayedReplica,
        how: str,
        offset: int,
        record: Record,
        committed: int,
    ) -> None:
        if (offset, record) in base.lost:
            return
        base.lost.add((offset, record))
        base.lost_values.add(record[1])
        if (offset, record) in base.acked_only:
            time, commit_leader, commit_epoch = self._keys[base.partition].acked[record[1]].time, None, None
        else:
            event = self._trace[committed]
            time, commit_leader = event[0], event[1]
            commit_epoch = self._epoch_at(base, committed)
        instead = leader.records[offset] if leader.start <= offset < len(leader.records) else None
        self.losses.append(
            Loss(
                base.partition, offset, record, committed, time, commit_leader, commit_epoch,
                index, leader, base.epoch, how, instead,
            )
        )  # fmt: skip

    def _epoch_at(self, base: _Baseline, committed: int) -> int:
        """The leader epoch of the event that committed something."""
        if committed >= len(self._trace):
            return base.epoch
        event = self._trace[committed]
        field_ = {"hw": 5, "lead": 4}.get(event[2])
        epoch: int = base.epoch if field_ is None else event[field_]
        return epoch

    def time_at(self, index: int) -> int:
        """The time of a trace index, in µs; the end of the trace comes after its last event."""
        time: int = self._trace[index][0] if index < len(self._trace) else self._trace[-1][0] + 1
        return time

    def index_after(self, time: int) -> int:
        """The first trace index later than `time`: trace comes before operations of the same time."""
        return bisect_right(self._trace, time, key=lambda event: event[0])


def _moved(chain: list[int], begin: int, end: int, onto: int) -> list[int]:
    """The part of a chain between two offsets, as it goes on from another one's link."""
    moved = onto - chain[begin]
    links = chain[begin + 1 : end + 1]
    return [link + moved for link in links] if moved else links
