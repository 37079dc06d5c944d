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

from collections.abc import Sequence
from itertools import islice

from tidemark.checkers.history.client_view import Ack
from tidemark.checkers.history.trace_events import NODE, TIME, Elect, Lead, LogStart, TraceEvent
from tidemark.checkers.replicas.baselines import NOWHERE, Baseline, Baselines, Loss
from tidemark.checkers.replicas.log_chain import agree, carried_on, first_difference
from tidemark.checkers.replicas.replayed_replica import (
    HOLE,
    ON_PURPOSE,
    Record,
    Removal,
    ReplayedReplica,
    ReplayedReplicas,
)
from tidemark.checkers.replicas.trace_checker import TraceChecker


class Committed(Baselines, TraceChecker):
    """Follows the baselines through the trace."""

    def on_begin(self, replicas: ReplayedReplicas) -> None:
        """Remember where the replicas are found."""
        self._replicas = replicas

    def on_log_start(self, index: int, event: LogStart, replica: ReplayedReplica, previous: int) -> None:
        """Note what is deleted on purpose. A leader must not lose anything else to its log start."""
        base = self._baselines.get(replica.partition) or self._baseline(replica.partition)
        if event.how in ON_PURPOSE:
            end = min(replica.start, replica.hw)
            for offset, record in enumerate(replica.records[previous:end], previous):
                base.deleted.add((offset, record))
                base.deleted_values.add(record[1])
        if replica.start > previous and self._is_newest(base, replica):
            self._compare(base, index, replica, "own-log")

    def _is_newest(self, base: Baseline, replica: ReplayedReplica) -> bool:
        """Whether this replica leads, and nobody was elected since."""
        return replica.leading and replica is base.leader and replica.epoch == base.epoch >= base.elected_epoch

    def on_elect(self, index: int, event: Elect) -> None:
        """Remember the newest epoch: a leader that has been deposed may truncate."""
        base = self._baseline(event.partition)
        base.elected_epoch = max(base.elected_epoch, event.leader_epoch)

    def on_leader_hw(self, index: int, event: TraceEvent, replica: ReplayedReplica, previous: int) -> None:
        """Commit what the high watermark passed."""
        base = self._baselines.get(replica.partition) or self._baseline(replica.partition)
        self._commit(base, index, replica.hw, event[5], replica)  # its epoch: by place, for speed

    def _commit(self, base: Baseline, index: int, hw: int, epoch: int, leader: ReplayedReplica) -> None:
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
            its_chain += carried_on(chain, known, end, its_chain[-1]) if differs else chain[known + 1 : end + 1]

    @staticmethod
    def _commit_again(base: Baseline, records: Sequence[Record], begin: int) -> None:
        """What was lost, came back and is committed anew can be lost anew."""
        for offset, record in enumerate(records, begin):
            base.lost.discard((offset, record))

    def _commit_beside(self, base: Baseline, index: int, end: int, epoch: int, leader: ReplayedReplica) -> None:
        begin = base.compared.get((leader.node, epoch))
        if begin is None:
            begin = first_difference(leader.chain, base.chain, end, min(leader.start, end))
        for offset in range(begin, end):
            record = leader.records[offset]
            if record != base.records[offset] and (offset, record) not in base.lost:
                base.others.setdefault((offset, record), index)
        base.compared[leader.node, epoch] = max(begin, end)

    def on_lead(self, index: int, event: Lead, replica: ReplayedReplica) -> None:
        """Look for everything committed in the new leader's log, unless its epoch is old and it only comes late."""
        base = self._baseline(replica.partition)
        epoch = event.leader_epoch
        if epoch < base.epoch:
            return
        base.epoch = epoch
        base.leader = replica
        self._take_acks(base, event.time)
        self._compare(base, index, replica, "election")
        self._commit(base, index, event.hw, epoch, replica)

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

    def _lose_what_nobody_has(self, base: Baseline, index: int, last: ReplayedReplica) -> None:
        assigned = [replica for replica in self._replicas.by_partition[base.partition] if replica.assigned]
        committed = {
            (o, record): base.commits[o] for o, record in enumerate(base.records) if o >= base.gone
        } | base.others
        for (offset, record), at in committed.items():
            wanted = record != HOLE and (offset, record) not in base.deleted
            if wanted and not any(replica.has(offset, record) for replica in assigned):
                self._lose(base, index, last, "nowhere", offset, record, at)

    def _take_acks(self, base: Baseline, before: int | None) -> None:
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

    def _place_of(self, base: Baseline, ack: Ack) -> tuple[int, Record]:
        """Where a replica has or had an acknowledged record, and in which epoch; `NOWHERE` for what is not known."""
        for first, records in self._held(base.partition):
            for offset, record in enumerate(records, start=first):
                if record[1] == ack.value and ack.offset in (None, offset):
                    return offset, record
        return NOWHERE if ack.offset is None else ack.offset, (NOWHERE, ack.value)

    def _compare(self, base: Baseline, index: int, leader: ReplayedReplica, how: str) -> None:
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
        base.chain = [*base.chain[: start + 1], *carried_on(leader.chain, start, kept, base.chain[start])]
        base.gone = min(base.gone, kept)
        self._compare_others(base, index, leader, how)

    def _compare_below(self, base: Baseline, index: int, leader: ReplayedReplica, how: str) -> None:
        """Report what lies below the leader's log start, and nobody deleted on purpose."""
        end = min(leader.start, len(base.records))
        for offset in range(base.gone, end):
            record = base.records[offset]
            if record != HOLE and (offset, record) not in base.deleted:
                base.acked_only.discard((offset, record))
                self._lose(base, index, leader, how, offset, record, base.commits[offset])
        base.gone = max(base.gone, end)

    def _compare_others(self, base: Baseline, index: int, leader: ReplayedReplica, how: str) -> None:
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
        base: Baseline,
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
            time, commit_leader = event[TIME], event[NODE]
            commit_epoch = self._epoch_at(base, committed)
        instead = leader.records[offset] if leader.start <= offset < len(leader.records) else None
        self.losses.append(
            Loss(
                base.partition, offset, record, committed, time, commit_leader, commit_epoch,
                index, leader, base.epoch, how, instead,
            )
        )  # fmt: skip
