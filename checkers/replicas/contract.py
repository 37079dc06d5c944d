"""What was promised to a committed record, and whether the promise still held when the record was destroyed.

Where there is an ISR there are three promises. `durable` is stricter than `kip-966`: lost logs are unclean shutdowns. Neither can
be compared with `documented`: if all crash at once it is void and `durable` is not, and if power fails at one broker after the
other it is the reverse.

`documented`
    holds while, at every moment since the record was committed, at least one member of the controller's ISR was
    alive: its process was running and the controller had accepted this incarnation of it (ISR membership
    belongs to the incarnation: KIP-841, KIP-903). Kafka's documentation.
`kip-966`
    holds while fewer than min ISR of the replicas that held the record have shut down uncleanly (crash, power,
    disk, damage, fatal) since. KIP-966.
`durable`
    holds while fewer than min ISR of the replicas that held it have lost their logs (power, disk, damage) since: what
    users read into ``min.insync.replicas``.

Where there is no ISR (``meta["isr"]`` false: a majority decides), the first two mean nothing, and there is one that does:

`majority`
    holds while no replica of the partition has lost its disk: what a majority has said counts as long as nobody forgets what it
    said (Raft, 5: servers recover with what is on their stable storage). A power loss is no excuse: what was counted was to be on
    disk. Neither are damaged files, as long as they are those of fewer replicas than a majority: an intact copy is there, and a
    checksum can tell which it is (Alagappan et al., "Protocol-Aware Recovery for Consensus-Based Storage", FAST 2018).

Where entries lie on bookies (``meta["votes"]`` false: nobody votes), there is another one in its place:

`ack-quorum`
    holds while fewer replicas of the partition than an ack quorum (min ISR of the meta line) have lost their disks, or had files
    damaged.

A promise begins anew whenever all replicas are alive, in sync, and have the record below their leader's high watermark
(:mod:`tidemark.checkers.replicas.renewal`).

A run has a promise of its *own*. Unless somebody chose it (``--contract``), it is judged by two more:

- `documented`, whatever the own: a better design breaks it no more than its predecessors did.
- `durable`, for a loss before which no broker had lost its log: where everything that was written is still there, nothing may be
  lost, be it that all brokers have crashed. Without that, one crash of all would excuse a recovery that cuts what was committed.

A deposed leader that has not heard of it commits on what it knew when it led. So for `documented` what befell the ISR counts since
it was deposed.

For `kip-966` and `durable`, a copy that was gone by the time of the commit counts as well: a leader commits on the word of
fetches that were under way, and cannot know that their sender has died since. For `kip-966` a copy that is still there counts, too,
if the broker was in the ISR as what it had been before it stopped: the controller had not accepted it again by the time of the
commit, and when it does it takes it for one that may have lost anything. A replica that a reassignment has taken away does not
count, whatever befell it: others have its part.

Whatever the promise, a record may go after a replica from outside the ISR and the ELR was elected because the configuration or an
operator wanted that (`unclean-election`), and a record acked with acks 0 or 1 that no leader's high watermark passed may go as well
(`acks-1-not-replicated`). An election of the *last known* leader is no such excuse; it is judged by the promises.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from tidemark.checkers.history.trace_events import (
    KIND,
    NODE,
    PARTITION,
    Append,
    Elect,
    IsrChange,
    LogLost,
    Register,
    Stop,
    TraceEvent,
)
from tidemark.checkers.history.turning_points import TurningPoint
from tidemark.checkers.replicas.isr_life import isr_dead_intervals
from tidemark.checkers.replicas.replayed_replica import LogAtStop, Record, ReplayedReplica, ReplayedReplicas
from tidemark.checkers.replicas.unasked_election import UncleanElection
from tidemark.checkers.verdict.verdict import PERMITTED, VIOLATION, Judgement

WITH_ELR = "kip-966"
PROMISES = ("documented", WITH_ELR, "durable")
MAJORITY = "majority"
WITHOUT_ISR = (MAJORITY, "durable")
"""The promises by which losses are judged where there is no ISR."""
ACK_QUORUM = "ack-quorum"
WITH_LEDGERS = (ACK_QUORUM, "durable")
"""The same where bookies keep ledgers."""
ALL_PROMISES = (*PROMISES, MAJORITY, ACK_QUORUM)

UNCLEAN_ELECTION = "unclean-election"
ACKS_1_NOT_REPLICATED = "acks-1-not-replicated"
VOID_BECAUSE = {
    "documented": "no-live-isr-member",
    "kip-966": "unclean-shutdowns>=min-isr",
    "durable": "lost-logs>=min-isr",
    MAJORITY: "lost-disk",
    ACK_QUORUM: "lost-disks>=ack-quorum",
}
"""The clause that permits a loss once a promise is void."""
DAMAGED = "damaged>=majority"
"""The same of `majority`, where no disk was lost, and files of as many were damaged."""

NOT_REPLICATED = Judgement(PERMITTED, ACKS_1_NOT_REPLICATED, ())
DELETED = Judgement(PERMITTED, "deleted", ())
"""A record that was deleted on purpose; only told where its offset was used again."""
ALWAYS = "documented"
"""The promise by which losses are judged beside the run's own."""
INTACT = "durable"
"""The promise by which losses are judged as long as no broker has lost its log."""
BEYOND = {
    ALWAYS: "that breaks the promise documented, which counts beside the run's own",
    INTACT: "that breaks the promise durable, which counts because no broker had lost its log by then",
}
"""Why a promise counts that is not the run's own."""

UNJUDGED = Judgement(VIOLATION, None, ("durable",))
"""A loss seen by clients only, with nothing known about the replicas: the promise that only lost logs make void."""

NEEDS_REPLICAS = "needs-replica-evidence"
UNDECIDED = Judgement(PERMITTED, NEEDS_REPLICAS, ("durable",))
"""The same by another promise: whether it still held cannot be told, so the run's verdict is at best *unknown*."""

_UNCLEAN_STOPS = frozenset({"crash", "power", "disk", "damage", "fatal"})
LOG_LOSSES = frozenset({"power", "disk", "damage"})
DISK_LOSSES = frozenset({"disk"})
SPOILT = frozenset({"disk", "damage"})
"""What befalls files that were synced."""


def loses_logs(event: TraceEvent) -> bool:
    """Whether a broker lost logs, all or one."""
    return event[KIND] == LogLost.kind or (event[KIND] == Stop.kind and Stop(event).how in LOG_LOSSES)


class LostRecord(NamedTuple):
    """A record that was committed at ``trace[committed]`` and found destroyed at ``trace[destroyed]``.

    `commit_epoch` is the epoch of the leader that committed it, `None` if only an acknowledgement did.
    """

    partition: str
    offset: int
    record: Record
    committed: int
    commit_epoch: int | None
    destroyed: int


class Contract:
    """Judges lost records by the promise `own`, by those that count beside it unless it `alone` does, and says which they break.

    Nobody knows what `silent` nodes held: each stop of theirs counts as that of one that had the record.

    Attributes:
        promises: those that are asked, beside the own; to be set before anything is judged.
    """

    def __init__(
        self,
        trace: Sequence[TraceEvent],
        points: Sequence[TurningPoint],
        replicas: ReplayedReplicas,
        min_isr_of: Callable[[str], int],
        own: str,
        unclean: Sequence[UncleanElection] = (),
        *,
        alone: bool = False,
        silent: Collection[int] = (),
    ) -> None:
        if own not in ALL_PROMISES:
            raise ValueError(f"there is no promise {own!r}; there are {', '.join(ALL_PROMISES)}")
        self.own = own
        self.promises: tuple[str, ...] = PROMISES
        self._alone = alone
        self._trace = trace
        self._replicas = replicas
        self._min_isr_of = min_isr_of
        self._silent_stops = [
            (index, event[NODE], Stop(event).how)
            for index, event in (enumerate(trace) if silent else ())
            if event[KIND] == "stop" and event[NODE] in silent
        ]
        self._unclean_elections = [one for one in unclean if one.asked_for]
        self._stops: dict[tuple[str, frozenset[str]], list[tuple[ReplayedReplica, list[LogAtStop]]]] = {}
        self._isr_dead = isr_dead_intervals(trace, points)
        self._isrs: defaultdict[str, list[tuple[int, tuple[int, ...]]]] = defaultdict(list)
        self._accepted: defaultdict[int, list[int]] = defaultdict(list)
        self._elections: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for index, event in points:
            if event[KIND] == "elect":
                elected = Elect(event)
                self._elections[event[PARTITION]].append((index, elected.leader_epoch))
                self._isrs[event[PARTITION]].append((index, elected.isr))
            elif event[KIND] == "isr-change":
                self._isrs[event[PARTITION]].append((index, IsrChange(event).isr))
            elif event[KIND] == "register":
                self._accepted[Register(event).broker].append(index)
        lost = (index for index, event in points if loses_logs(event))
        self._first_log_lost = next(lost, len(trace))

    def judge(self, lost: LostRecord) -> Judgement:
        """Whether losing this record was permitted, and by which clause."""
        if self._after_unclean_election(lost):
            return Judgement(PERMITTED, UNCLEAN_ELECTION, ())
        breaks = tuple(promise for promise in self._asked() if not self._void(promise, lost))
        if self.own in breaks:
            return Judgement(VIOLATION, None, breaks)
        for promise in self._beside(lost):
            if promise in breaks:
                return Judgement(VIOLATION, None, breaks, BEYOND[promise])
        clause = DAMAGED if self.own == MAJORITY and not self._without(lost, DISK_LOSSES) else VOID_BECAUSE[self.own]
        return Judgement(PERMITTED, clause, breaks)

    def _asked(self) -> tuple[str, ...]:
        return self.promises if self.own in self.promises else (*self.promises, self.own)

    def _beside(self, lost: LostRecord) -> tuple[str, ...]:
        """The promises that count beside the own."""
        if self._alone:
            return ()
        return (ALWAYS, INTACT) if lost.destroyed <= self._first_log_lost else (ALWAYS,)

    def _after_unclean_election(self, lost: LostRecord) -> bool:
        """A deposed leader that has not heard of the election may still commit, so epochs count as well."""
        return any(
            one.partition == lost.partition
            and one.at <= lost.destroyed
            and (one.at >= lost.committed or (lost.commit_epoch is not None and one.epoch > lost.commit_epoch))
            for one in self._unclean_elections
        )

    def _void(self, promise: str, lost: LostRecord) -> bool:
        if promise in (MAJORITY, ACK_QUORUM):
            spoilt = self._without(lost, SPOILT) >= self._min_isr_of(lost.partition)
            return spoilt or (promise == MAJORITY and self._without(lost, DISK_LOSSES) > 0)
        if promise == "documented":
            intervals = self._isr_dead.get(lost.partition, ())
            since = min(lost.committed, self._deposed(lost))
            return any(begin <= lost.destroyed and end > since for begin, end in intervals)
        unclean = promise == "kip-966"
        stops = _UNCLEAN_STOPS if unclean else LOG_LOSSES
        silent = {node for index, node, how in self._silent_stops if how in stops and index <= lost.destroyed}
        held = self._holders_stopped(lost, stops, also_not_accepted=unclean)
        return len(silent) + held >= self._min_isr_of(lost.partition)

    def _without(self, lost: LostRecord, kinds: frozenset[str]) -> int:
        """How many replicas had such a stop before the loss was found."""
        replicas = self._stopped(lost.partition, kinds)
        return sum(any(stop.at <= lost.destroyed for stop in stops) for _, stops in replicas)

    def _deposed(self, lost: LostRecord) -> int:
        """When the controller replaced the leader that committed the record: the trace's index, or length if it did not."""
        never = len(self._trace)
        if lost.commit_epoch is None:
            return never
        elections = self._elections.get(lost.partition, ())
        return next((index for index, epoch in elections if epoch > lost.commit_epoch), never)

    def _holders_stopped(self, lost: LostRecord, kinds: frozenset[str], *, also_not_accepted: bool) -> int:
        """How many replicas had such a stop while they held the record, and since it was committed."""
        partition, offset, record, committed, _, destroyed = lost
        count = 0
        for replica, stops in self._stopped(partition, kinds):
            for stop in stops:
                if (
                    stop.at <= destroyed < stop.until
                    and replica.had_at(stop, offset, record)
                    and (
                        stop.at >= committed
                        or self._copy_gone(replica, stop, lost)
                        or (also_not_accepted and self._in_isr_as_before(partition, replica.node, stop.at, committed))
                    )
                ):
                    count += 1
                    break
        return count

    def _stopped(self, partition: str, kinds: frozenset[str]) -> list[tuple[ReplayedReplica, list[LogAtStop]]]:
        """The replicas that had such stops, and these: looked up once, when the trace is over."""
        found = self._stops.get((partition, kinds))
        if found is None:
            replicas = self._replicas.by_partition.get(partition, ())
            stops = [(replica, [stop for stop in replica.stops if stop.how in kinds]) for replica in replicas]
            found = self._stops[partition, kinds] = [(replica, such) for replica, such in stops if such]
        return found

    def _in_isr_as_before(self, partition: str, node: int, stopped: int, at: int) -> bool:
        """Whether a broker was in the ISR, and the controller had not accepted it again since it stopped.

        Never where nothing is told of acceptance.
        """
        accepted = self._accepted.get(node)
        isr = next((isr for index, isr in reversed(self._isrs[partition]) if index < at), ())
        return node in isr and accepted is not None and not any(stopped < index < at for index in accepted)

    def _copy_gone(self, replica: ReplayedReplica, stop: LogAtStop, lost: LostRecord) -> bool:
        """Whether the copy that this stop put an end to was missing when the record was committed.

        It was if the process was still down then, or had come back without the record and not fetched it again.
        """
        between = range(stop.at + 1, lost.committed)
        events = [(index, self._trace[index]) for index in between if self._trace[index][NODE] == replica.node]
        if not any(event[KIND] == "start" for _, event in events):
            return True
        removal = replica.removal_of(lost.offset, lost.record, before=lost.committed)
        if removal is None or removal.at < stop.at:
            return False
        return not any(
            index > removal.at and event[KIND] == "append" and Append(event).wrote(lost.offset, lost.record)
            for index, event in events
            if event[PARTITION] == replica.partition
        )
