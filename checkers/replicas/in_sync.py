"""`strong-isr`, `weak-isr`, `leader-candidate-completeness`: who may be elected, or is counted on, lacks what is committed.

The ISR is Kafka's word for who has every committed record, so that any of it may be elected. `strong-isr` asks the controller's
ISR, `weak-isr` the ISR that the leader itself goes by (Kafka's TLA+ specification has both as its invariants), and
`leader-candidate-completeness` the ELR (KIP-966), whose members may be elected as well. Only live replicas are asked.

Nobody has lost anything yet: the record may still be fetched, or the member may never be elected. So none is a violation but a
*near miss*: the state from which one election loses an acknowledged record. Once per member, leader and epoch.

The leader may be one that has been deposed and does not know: what it commits is committed. After lost logs, or an election from
outside the ISR that was asked for, it is only told where the promises forbid losing that record.

In a trace of several machines' clocks, and of logs that are followed as they are written, the order of events is known to a second
or so only; there a member has `LIVE_PATIENCE_US` to have the record.

Broker 2 is in sync and has nothing; broker 1 commits record 7:

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(trace=[
...     (5, 0, "elect", "t-0", 1, 1, (1, 2), (), "initial", True, 0),
...     (10, 1, "lead", "t-0", 1, 0, 0, (1, 2)),
...     (12, 2, "follow", "t-0", 1, 1, 0, 0),
...     (20, 1, "append", "t-0", 0, 1, (7,)),
...     (30, 1, "hw", "t-0", 1, 1, True),
... ]))
>>> print(verdict.anomalies[0].message)
Broker 2 is in the controller's ISR of t-0 and lacks record 7 (offset 0, epoch 1) at 0.000030 s, committed by broker 1 in epoch 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tidemark.checkers.history.trace_events import TIME, Elect, Event, Isr, Lead, LogStart, TraceEvent
from tidemark.checkers.replicas.committed import Committed
from tidemark.checkers.replicas.contract import LostRecord
from tidemark.checkers.replicas.finder import Finder
from tidemark.checkers.replicas.isr_life import IsrLife
from tidemark.checkers.replicas.log_chain import agree, first_difference, in_common
from tidemark.checkers.replicas.lost_committed_write import LostWrites
from tidemark.checkers.replicas.replayed_replica import HOLE, Removal, ReplayedReplica, ReplayedReplicas
from tidemark.checkers.verdict.verdict import NEAR_MISS, VIOLATION, Anomaly, seconds

STRONG = "strong-isr"
WEAK = "weak-isr"
CANDIDATE = "leader-candidate-completeness"
WHOSE = {STRONG: "the controller's ISR", WEAK: "the leader's ISR", CANDIDATE: "the ELR"}


class _Pair(NamedTuple):
    name: str
    member: ReplayedReplica
    leader: ReplayedReplica
    epoch: int


@dataclass(slots=True)
class _Lack:
    """What a member lacks, since ``trace[since]``: the first record, and how many."""

    pair: _Pair
    since: int
    lost: LostRecord
    count: int


class InSync(Finder):
    """Compares the members of ISRs with leaders that commit.

    Args:
        trace: of the run.
        committed: the committed baseline, which listens to the same pass before this checker does.
        patience_us: how long a member may seem to lack something before it is believed, in µs.
    """

    def __init__(self, trace: Sequence[TraceEvent], committed: Committed, patience_us: int) -> None:
        super().__init__()
        self._trace = trace
        self._committed = committed
        self._patience_us = patience_us
        self._life = IsrLife(trace)
        self._elected: dict[tuple[str, int], dict[int, int]] = {}
        self._own_isr: dict[ReplayedReplica, dict[int, int]] = {}
        self._open: dict[_Pair, _Lack] = {}
        self._told: dict[_Pair, _Lack] = {}

    def on_leader_hw(self, index: int, event: TraceEvent, replica: ReplayedReplica, previous: int) -> None:
        """A leader commits: who has what its high watermark passed lacks no more than before, and that was looked at then."""
        if replica.leading:
            hw, chain = replica.hw, replica.chain
            if self._open or not 0 <= previous <= hw < len(chain):
                self._compare(index, replica)
                return
            link = chain[hw]
            for member in self._replicas.by_partition[replica.partition]:
                other = member.chain
                if len(other) <= hw or (other[hw] != link and not agree(other, chain, previous, hw)):
                    self._compare(index, replica)
                    return

    def on_lead(self, index: int, event: Lead, replica: ReplayedReplica) -> None:
        """A leader begins with what it knew as a follower."""
        elected = self._elected.get((replica.partition, event.leader_epoch), {})
        self._own_isr[replica] = self._lives(event.isr, elected)
        self._compare(index, replica)

    def on_own_isr(self, index: int, event: Isr, replica: ReplayedReplica) -> None:
        """A leader's own ISR changes."""
        self._own_isr[replica] = self._lives(event.isr, self._own_isr.get(replica, {}))
        if replica.leading:
            self._compare(index, replica)

    def _lives(self, isr: Sequence[int], before: dict[int, int]) -> dict[int, int]:
        """The members of an ISR, each with the incarnation that came in: who has restarted since is not who the leader counts on,
        and has no word from the controller that it is in sync (KIP-903).
        """
        return {node: before.get(node, self._life.accepted[node]) for node in isr}

    def on_removed(self, index: int, replica: ReplayedReplica, removal: Removal) -> None:
        """A member cuts its log."""
        self._compare_all(index, replica.partition)

    def on_log_start(self, index: int, event: LogStart, replica: ReplayedReplica, previous: int) -> None:
        """A member begins anew, or has its log start back after a crash."""
        self._compare_all(index, replica.partition)

    def on_membership(self, index: int, event: Event) -> None:
        """The controller changes an ISR or elects, a process starts, stops or is registered."""
        self._life.step(event)
        if isinstance(event, Elect):
            self._elected[event.partition, event.leader_epoch] = self._lives(event.isr, {})
        for partition in [event.partition] if event.partition else list(self._replicas.by_partition):
            self._compare_all(index, partition)

    def on_end(self, index: int, replicas: ReplayedReplicas) -> None:
        """What has not come right by the end is believed if there was time."""
        if self._open:
            self._settle(index - 1)

    def _compare_all(self, index: int, partition: str) -> None:
        for leader in self._replicas.by_partition.get(partition, ()):
            if leader.leading:
                self._compare(index, leader)

    def _compare(self, index: int, leader: ReplayedReplica) -> None:
        for member in self._replicas.by_partition[leader.partition]:
            if member is leader or _has_all(member, leader):
                continue
            if not (member.assigned and self._life.alive(member.node)):
                continue
            for name in WHOSE:
                pair = _Pair(name, member, leader, leader.epoch)
                if self._counts(pair) and pair not in self._told and pair not in self._open:
                    self._open[pair] = self._lack(index, pair)
        if self._open:
            self._settle(index)

    def _counts(self, pair: _Pair) -> bool:
        """Whether the member is one of those that the name speaks of."""
        name, member, leader, _ = pair
        if name == WEAK:
            return self._own_isr.get(leader, {}).get(member.node) == self._life.accepted[member.node]
        return member.node in (self._life.isrs if name == STRONG else self._life.elrs).get(leader.partition, ())

    def _lack(self, index: int, pair: _Pair) -> _Lack:
        member, leader = pair.member, pair.leader
        hw = min(leader.hw, len(leader.records))
        begin = in_common(member, leader, hw)
        shared = max(begin, min(len(member.records), hw))
        if shared < len(member.chain) and not agree(member.chain, leader.chain, begin, shared):
            shared = first_difference(member.chain, leader.chain, shared, begin)
        record = leader.records[shared]
        at = self._committed.committed_at(leader.partition, shared, record)
        lost = LostRecord(leader.partition, shared, record, index if at is None else at, leader.epoch, index)
        return _Lack(pair, index, lost, hw - shared)

    def _settle(self, index: int) -> None:
        """Believe what has lasted; forget what has come right."""
        now = self._trace[index][TIME]
        for pair, lack in list(self._open.items()):
            _, member, leader, epoch = pair
            if now - self._trace[lack.since][TIME] < self._patience_us:
                if not leader.leading or leader.epoch != epoch or _has_all(member, leader):
                    del self._open[pair]
                continue
            del self._open[pair]
            if self._still(pair) or not self._patience_us:
                self._told[pair] = lack

    def _still(self, pair: _Pair) -> bool:
        _, member, leader, epoch = pair
        there = self._counts(pair) and self._life.alive(member.node)
        return there and leader.leading and leader.epoch == epoch and not _has_all(member, leader)

    def judged(self, losses: LostWrites) -> list[Anomaly]:
        """What was found, of records that must not be lost by the judgement of the contract."""
        return [
            self._anomaly(lack)
            for lack in self._told.values()
            if lack.lost.record != HOLE and losses.judgement(lack.lost).verdict == VIOLATION
        ]

    def _anomaly(self, lack: _Lack) -> Anomaly:
        name, member, leader, epoch = lack.pair
        time, _, event = self._trace[lack.since][:3]
        _, offset, (record_epoch, value), *_ = lack.lost
        more = "" if lack.count == 1 else f", the first of {lack.count}"
        message = (
            f"Broker {member.node} is in {WHOSE[name]} of {leader.partition} and lacks record {value} (offset {offset}, epoch "
            f"{record_epoch}{more}) at {seconds(time)}, committed by broker {leader.node} in epoch {epoch}."
        )
        evidence = {
            "node": member.node, "leader": leader.node, "leader_epoch": epoch, "offset": offset, "value": value,
            "epoch": record_epoch, "count": lack.count, "event": event, "trace_index": lack.since,
        }  # fmt: skip
        return Anomaly(name, NEAR_MISS, time, leader.partition, message, evidence=evidence)


class LastingInSync(InSync):
    """For traces in which a state must last to be believed: looks after each append whether what was lacking has come."""

    def on_append(self, index: int, event: TraceEvent, replica: ReplayedReplica) -> None:
        """A member may have got what it lacked."""
        if self._open:
            self._settle(index)


def _has_all(member: ReplayedReplica, leader: ReplayedReplica) -> bool:
    """Whether a member has what its leader has committed, as far as it is in both logs' reach."""
    hw, chain, its_chain = leader.hw, member.chain, leader.chain
    if 0 <= hw < len(chain) and hw < len(its_chain) and chain[hw] == its_chain[hw]:
        return True
    hw = min(hw, len(leader.records))
    begin = in_common(member, leader, hw)
    return begin >= hw or (len(chain) > hw and agree(chain, its_chain, begin, hw))
