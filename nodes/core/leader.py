"""What a replica does while it leads: serve fetches and clients, advance the high watermark, keep the ISR (docs/protocol.md).

Which of the steps here is taken when is :data:`tidemark.nodes.core.roles.TABLE`'s to say. A step takes the time and the message
that caused it.

It is one file, though a long one: a single fetch moves a follower's log end, the high watermark and the ISR, and all three go by
what the leader knows of its followers. Read apart, none of them could be checked against Kafka's ``Partition``.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from tidemark.nodes.core.actions import Append, Send
from tidemark.nodes.core.epoch_cache import UNDEFINED, EpochEnd
from tidemark.nodes.core.log import Batch
from tidemark.nodes.core.messages import (
    ALL,
    CONTROLLER,
    FENCED_LEADER_EPOCH,
    HIGH_WATERMARK,
    INELIGIBLE_REPLICA,
    NOT_ENOUGH_REPLICAS,
    NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    NOT_LEADER,
    OFFSET_OUT_OF_RANGE,
    REQUEST_TIMED_OUT,
    STALE_BROKER_EPOCH,
    UNKNOWN_LEADER_EPOCH,
    UNSUPPORTED_VERSION,
    AlterPartition,
    AlterPartitionResponse,
    ConsumeRequest,
    ConsumeResponse,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    EpochRequest,
    EpochResponse,
    FetchRequest,
    FetchResponse,
    LeaderAndIsr,
    ProduceRequest,
    ProduceResponse,
)
from tidemark.nodes.core.truncation.rule import Question
from tidemark.nodes.core.variant import Fence

if TYPE_CHECKING:
    from tidemark.nodes.core.replica import Replica

NEVER = -(1 << 62)


class Remote:
    """What the leader knows of one follower.

    Attributes:
        leo: the follower's log end offset, −1 until its first fetch of this leader. start: its log start offset, likewise.
        caught_up_us: when it last had everything (``lastCaughtUpTimeMs``).
        in_epoch: whether its last fetch named this leader epoch.
        broker_epoch: the incarnation that fetched last.
    """

    __slots__ = ("broker_epoch", "caught_up_us", "in_epoch", "last_fetch_us", "leader_leo_then", "leo", "start")

    def __init__(self) -> None:
        """Know nothing."""
        self.leo = self.start = -1
        self.broker_epoch = -1
        self.begin_epoch(NEVER, 1 << 62)

    def begin_epoch(self, caught_up_us: int, leader_leo: int) -> None:
        """Count it as caught up at a time; it has not fetched in this epoch."""
        self.caught_up_us = self.last_fetch_us = caught_up_us
        self.leader_leo_then = leader_leo
        self.in_epoch = False


class Leadership:
    """What a leader knows, from the day it was elected until it resigns: one leader epoch, or several in a row.

    Attributes:
        isr: the committed ISR. maximal: with a pending expansion, the superset that gates the high watermark.
        eligible: replicas that could be in the ISR, as the controller last said.
        pending: the AlterPartition in flight, if any, and when it was sent.
    """

    epoch: int
    epoch_start: int
    isr: tuple[int, ...]
    maximal: tuple[int, ...]
    eligible: tuple[int, ...]
    _shrink_due: int

    def __init__(self, replica: Replica) -> None:
        """Know no followers; :meth:`begin` begins an epoch."""
        self.replica = replica
        self.pending: AlterPartition | None = None
        self.pending_since = 0
        self.remotes: dict[int, Remote] = {}
        self.parked_fetches: dict[int, tuple[FetchRequest, int]] = {}
        self.parked_produces: deque[tuple[int, ProduceRequest, int, int]] = deque()
        self.strangers: dict[int, tuple[FetchRequest, int]] = {}
        """Fetches of brokers that are no replicas, which wait to be answered without counting."""
        self.parked_deletes: list[tuple[int, DeleteRecordsRequest, int]] = []
        variant = replica.variant
        self._fence_fetch = Fence.FETCH in variant.fences
        self._fence_truncation = Fence.TRUNCATION in variant.fences
        self._fence_hw = Fence.HW in variant.fences
        self._fence_isr = Fence.ISR in variant.fences
        self.heed_min_isr()
        self._check_brokers = variant.broker_epoch_checks
        self._writes_isr = variant.leader_writes_isr
        self._refuses_strangers = variant.refuses_strangers
        self._looks_for_strangers = "KAFKA-9672" not in variant.bugs
        self._looks_after_answers = "KAFKA-13091" not in variant.bugs
        self._count_diverging = "KAFKA-13141" in variant.bugs
        self._expand_below_start = "KAFKA-7128" in variant.bugs
        self._looks_hw_up = "KAFKA-9491" in variant.bugs
        self._one_queue = "KAFKA-12686" in variant.bugs
        self.forgotten = False
        """The pending proposal was never sent, and will not be (KAFKA-12686)."""

    def heed_min_isr(self) -> None:
        """Know how many members are enough: the min ISR that it has heard of, or as many as there are replicas (KAFKA-15583)."""
        replica = self.replica
        gates = replica.variant.min_isr_gates_hw
        self._enough = min(replica.broker.min_isr, len(self.remotes) + 1) if gates else replica.broker.min_isr
        self._least_isr = self._enough if gates else 0

    def begin(self, now: int, state: LeaderAndIsr) -> None:
        """A leader epoch begins: members of the ISR count as caught up now.

        What is known of a follower's log end stays known (``Partition.makeLeader`` and ``Replica.resetReplicaState`` with
        ``isNewLeader = false``, Kafka 3.9), unless the variant forgets it; so do producers' batches that wait for the high
        watermark.
        """
        replica = self.replica
        self.epoch = state.leader_epoch
        self.epoch_start = leo = replica.log.leo
        self.isr = self.maximal = state.isr
        self.eligible = state.eligible
        self.pending = None
        self._shrink_due = now + replica.settings.lag_time_us // 2
        known = {} if replica.variant.forget_log_ends else self.remotes
        self.remotes = {b: known.get(b) or Remote() for b in state.replicas if b != replica.node_id}
        self.heed_min_isr()
        for broker, remote in self.remotes.items():
            remote.begin_epoch(now if broker in state.isr else NEVER, leo)
        if self._fence_fetch:
            for fetch, _ in (*self.parked_fetches.values(), *self.strangers.values()):
                self._refuse(fetch, self._fenced(fetch.leader_epoch))
            self.parked_fetches.clear()
            self.strangers.clear()

    def _know(self, replicas: tuple[int, ...]) -> None:
        """The replicas of a newer state of this epoch; of new ones nothing is known yet (``Partition.updateAssignmentAndIsr``)."""
        known = self.remotes
        self.remotes = {b: known.get(b) or Remote() for b in replicas if b != self.replica.node_id}
        self.heed_min_isr()

    # Followers

    def _fenced(self, request_epoch: int) -> str | None:
        if request_epoch == self.epoch:
            return None
        return FENCED_LEADER_EPOCH if request_epoch < self.epoch else UNKNOWN_LEADER_EPOCH

    def answer_fetch(self, now: int, m: FetchRequest) -> None:
        """Answer a follower's fetch, now or when there is something to say.

        One of a broker that is no replica, as far as this leader knows, is refused from 3.3 on (KAFKA-13837), as it was up to 0.11
        (``NotAssignedReplicaException``). In between it was answered as if there were nothing to fetch, so it waited; but when it
        had waited the log was read anew (``updateFollowerFetchState``, ``DelayedFetch.onComplete``, 1.0 to 3.2).
        """
        replica = self.replica
        source = m.source
        remote = self.remotes.get(source)
        if self._fence_fetch and m.leader_epoch != self.epoch:
            self._refuse(m, self._fenced(m.leader_epoch))
            return
        if remote is None:
            if self._refuses_strangers:
                self._refuse(m, UNKNOWN_LEADER_EPOCH if self._fence_fetch else NOT_LEADER)
                return
        elif self._check_brokers:
            if m.broker_epoch < remote.broker_epoch:
                self._refuse(m, STALE_BROKER_EPOCH)
                return
            remote.broker_epoch = m.broker_epoch
        log = replica.log
        leo = log.leo
        offset = m.offset
        if offset < log.start:
            self._refuse(m, OFFSET_OUT_OF_RANGE)
            return
        last = m.last_fetched_epoch
        if last != UNDEFINED and (last != replica.cache.latest or offset > leo) and self._diverges(now, remote, m):
            return
        if offset > leo:
            self._refuse(m, OFFSET_OUT_OF_RANGE)
            return
        if remote is None:
            self.strangers[source] = (m, now + replica.settings.fetch_wait_us)
            return
        if not self._fence_hw or m.leader_epoch == self.epoch:
            self._note_progress(now, remote, m)
        if offset < leo:
            self._answer(m)
        elif self._looks_hw_up and replica.hw < log.start:
            self._refuse(m, OFFSET_OUT_OF_RANGE)
        else:
            self.parked_fetches[source] = (m, now + replica.settings.fetch_wait_us)

    def _diverges(self, now: int, remote: Remote | None, m: FetchRequest) -> bool:
        """Whether this log has no such record as the follower's last; then it is told so, and where to look."""
        last = m.last_fetched_epoch
        end = self.replica.cache.end_offset_for(last, self.replica.log.leo)
        if end.offset == UNDEFINED:
            self._refuse(m, OFFSET_OUT_OF_RANGE)
            return True
        if end.epoch >= last and end.offset >= m.offset:
            return False
        if self._count_diverging and remote is not None:
            self._note_progress(now, remote, m)
        self._refuse(m, None, end)
        return True

    def _note_progress(self, now: int, remote: Remote, m: FetchRequest) -> None:
        """Take the follower's log end, and what follows: caught-up time, ISR expansion, high watermark."""
        leo = self.replica.log.leo
        before = remote.leo
        offset = m.offset
        if offset >= leo:
            remote.caught_up_us = now
        elif offset >= remote.leader_leo_then and remote.last_fetch_us > remote.caught_up_us:
            remote.caught_up_us = remote.last_fetch_us
        remote.leo = offset
        remote.start = m.start
        remote.leader_leo_then = leo
        remote.last_fetch_us = now
        remote.in_epoch = m.leader_epoch == self.epoch
        if m.source not in self.maximal:
            self._maybe_expand(now, m.source, remote)
        if offset != before:
            self.maybe_advance_hw(now)
        if self.parked_deletes:
            self._answer_deletes()

    def _refuse(self, m: FetchRequest, error: str | None, diverging: EpochEnd | None = None) -> None:
        replica = self.replica
        replica.out.append(
            Send(
                m.source,
                FetchResponse(
                    replica.node_id,
                    m.partition,
                    m.correlation,
                    [],
                    replica.hw,
                    replica.log.leo,
                    error,
                    diverging,
                    replica.log.start,
                ),
            )
        )

    def _answer(self, m: FetchRequest) -> None:
        replica = self.replica
        log = replica.log
        batches = log.read(m.offset, replica.settings.max_fetch_batches)
        answer = FetchResponse(
            replica.node_id, m.partition, m.correlation, batches, replica.hw, log.leo, None, None, log.start
        )
        replica.out.append(Send(m.source, answer))

    def answer_epoch_request(self, _now: int, m: EpochRequest) -> None:
        """Answer OffsetForLeaderEpoch from the own epoch cache, in the version of the question.

        A follower asks in the version of its own inter-broker protocol, and the leader's is not looked at
        (``ReplicaFetcherThread.offsetForLeaderEpochRequestVersion``, ``OffsetsForLeaderEpochResponse.toStruct``, Kafka 2.0.0).
        """
        replica = self.replica
        error = self._fenced(m.current_epoch) if self._fence_truncation else None
        asked = replica.variant.rule_of(m.source)
        answer = asked.leaders_answer(replica, Question(m.epoch, m.lineage))
        replica.out.append(Send(m.source, EpochResponse(replica.node_id, m.partition, m.correlation, answer, error)))

    # Clients

    def append(self, now: int, m: ProduceRequest) -> None:
        """Append a producer's batch; acknowledge as its ``acks`` asks."""
        replica = self.replica
        if m.acks == ALL and len(self.isr) < self._enough:
            self._acknowledge(m, -1, NOT_ENOUGH_REPLICAS)
            return
        log = replica.log
        batch = Batch(log.leo, self.epoch, m.values)
        log.append(batch)
        if batch.epoch != replica.cache.latest:
            replica.note_epoch(batch)
        out = replica.out
        out.append(Append(m.partition, batch))
        if m.acks == ALL:
            self.parked_produces.append((batch.end, m, batch.base, now + replica.settings.produce_timeout_us))
        elif m.acks != "0":
            self._acknowledge(m, batch.base, None)
        if self.parked_fetches:
            # A fetch is parked at the log's end, so the new batch is its answer.
            new, hw, leo, start = [batch], replica.hw, log.leo, log.start
            for fetch, _ in self.parked_fetches.values():
                answer = FetchResponse(replica.node_id, m.partition, fetch.correlation, new, hw, leo, None, None, start)
                out.append(Send(fetch.source, answer))
            self.parked_fetches.clear()
        if len(self.maximal) == 1 or not self._looks_after_answers:
            self.maybe_advance_hw(now)

    def on_duplicate(self, now: int, m: ProduceRequest, base: int, end: int) -> None:
        """A batch that the log holds already (idempotent producer, KIP-98): answered with its first offset, and, with acks=all,
        only once it is committed. It lies from ``base`` to ``end``.
        """
        if m.acks != ALL or self.replica.hw >= end:
            self._acknowledge(m, base, None)
            return
        waiting = (end, m, base, now + self.replica.settings.produce_timeout_us)
        later = sum(1 for parked in self.parked_produces if parked[0] > end)
        self.parked_produces.insert(len(self.parked_produces) - later, waiting)

    def _acknowledge(self, m: ProduceRequest, base: int, error: str | None) -> None:
        replica = self.replica
        replica.out.append(Send(m.source, ProduceResponse(replica.node_id, m.partition, m.correlation, base, error)))

    def answer_consumer(self, _now: int, m: ConsumeRequest) -> None:
        """Give a consumer what lies below the high watermark."""
        replica = self.replica
        log, hw, offset = replica.log, replica.hw, m.offset
        records: list[tuple[int, int]] = []
        error = OFFSET_OUT_OF_RANGE if self.out_of_range(offset) else None
        if error is None and offset < hw:
            for batch in log.read(offset, replica.settings.max_fetch_batches):
                for at, value in enumerate(batch.values, batch.base):
                    if offset <= at < hw:
                        records.append((at, value))
        replica.out.append(
            Send(m.source, ConsumeResponse(replica.node_id, m.partition, m.correlation, records, hw, error, log.start))
        )

    def out_of_range(self, offset: int) -> bool:
        """Whether a consumer gets nothing there (under KAFKA-9491: nowhere while the high watermark is below the log start)."""
        log = self.replica.log
        return not log.start <= offset <= log.leo or (self._looks_hw_up and self.replica.hw < log.start)

    def delete_records(self, now: int, m: DeleteRecordsRequest) -> None:
        """Move the log start up, never beyond the high watermark (KIP-107; ``Partition.deleteRecordsOnLeader``).

        It is answered when the log starts of all live replicas are known to have followed (``DelayedDeleteRecords``).
        """
        replica = self.replica
        offset = replica.hw if m.offset == HIGH_WATERMARK else m.offset
        if not replica.variant.delete_records:
            self._answer_delete(m, -1, UNSUPPORTED_VERSION)
        elif not 0 <= offset <= replica.hw:
            self._answer_delete(m, -1, OFFSET_OUT_OF_RANGE)
        else:
            replica.advance_start(now, offset, "delete-records")
            self.parked_deletes.append((offset, m, now + replica.settings.produce_timeout_us))
            self._answer_deletes()

    def _answer_deletes(self) -> None:
        """Answer the deletions that the low watermark has reached: the least log start of this replica and all live others."""
        low = min(self.replica.log.start, *(r.start for b, r in self.remotes.items() if b in self.eligible), 1 << 62)
        for offset, request, _ in self.parked_deletes:
            if offset <= low:
                self._answer_delete(request, low, None)
        self.parked_deletes = [parked for parked in self.parked_deletes if parked[0] > low]

    def _answer_delete(self, m: DeleteRecordsRequest, low: int, error: str | None) -> None:
        replica = self.replica
        response = DeleteRecordsResponse(replica.node_id, replica.name, m.correlation, low, error)
        replica.out.append(Send(m.source, response))

    # High watermark

    def maybe_advance_hw(self, now: int) -> None:
        """HW = the least log end of leader, maximal ISR, and replicas about to join it; never back within a term.

        About to join are replicas that are caught up and, where the leader knows it (KIP-841), eligible.
        """
        replica = self.replica
        if len(self.isr) < self._least_isr or (self._writes_isr and self.pending is not None):
            return
        if self._looks_hw_up and replica.hw < replica.log.start:
            return
        hw = replica.log.leo
        known = replica.hw
        maximal = self.maximal
        for broker, remote in self.remotes.items():
            if remote.leo < hw and (
                broker in maximal or (remote.leo >= 0 and self._about_to_join(now, broker, remote))
            ):
                hw = remote.leo
                if hw <= known:
                    return
        if hw > known:
            replica.hw = hw
            replica.out.append((now, replica.node_id, "hw", replica.name, hw, self.epoch, True))
            parked = self.parked_produces
            while parked and parked[0][0] <= hw:
                _, request, base, _ = parked.popleft()
                enough = len(maximal) >= self._enough
                self._acknowledge(request, base, None if enough else NOT_ENOUGH_REPLICAS_AFTER_APPEND)

    def _about_to_join(self, now: int, broker: int, remote: Remote) -> bool:
        if self._check_brokers and broker not in self.eligible:
            return False
        return now - remote.caught_up_us <= self.replica.settings.lag_time_us

    # ISR

    def _maybe_expand(self, now: int, broker: int, remote: Remote) -> None:
        if self.pending is not None or remote.leo < self.replica.hw:
            return
        if remote.leo < self.epoch_start and not self._expand_below_start:
            return
        if self._fence_isr and not remote.in_epoch:
            return
        self._propose(now, (*self.isr, broker))

    def _maybe_shrink(self, now: int) -> None:
        """Looked at every half ``replica.lag.time.max.ms``, as Kafka's ``isr-expiration`` task does.

        A member that is no replica (any more) is out of sync (``Partition.isFollowerOutOfSync`` from 3.0 on, KAFKA-9672).
        """
        leo = self.replica.log.leo
        since = now - self.replica.settings.lag_time_us
        behind = [b for b, r in self.remotes.items() if b in self.isr and r.leo != leo and r.caught_up_us < since]
        strange = [b for b in self.isr if b not in self.remotes and b != self.replica.node_id]
        if strange and not self._looks_for_strangers:
            return
        if behind or strange:
            self._propose(now, tuple(b for b in self.isr if b not in behind and b not in strange))

    def _propose(self, now: int, isr: tuple[int, ...]) -> None:
        """Ask the controller for a new ISR, or write it to ZooKeeper.

        Until there is an answer, the high watermark waits for old and new members alike; a leader that writes itself has its
        partition locked meanwhile (``Partition.maybeExpandIsr``, 2.1), so it does not move at all.
        """
        replica = self.replica
        replica.correlation += 1
        mine = replica.broker.broker_epoch
        epochs = {b: remote.broker_epoch for b, remote in self.remotes.items()} | {replica.node_id: mine}
        members = tuple((b, epochs.get(b, -1)) for b in isr)
        self.forgotten = False
        self.pending = AlterPartition(
            replica.node_id, replica.name, self.epoch, replica.partition_epoch, members, mine, replica.correlation
        )
        if not self._writes_isr:
            self.maximal = tuple(dict.fromkeys((*self.isr, *isr)))
            fields = (self.isr, self.maximal, replica.partition_epoch)
            replica.out.append((now, replica.node_id, "isr", replica.name, *fields))
        self._send_pending(now)

    def _send_pending(self, now: int) -> None:
        self.pending_since = now
        replica = self.replica
        if self._one_queue:
            if replica.isr_request is not None and replica.isr_request is not self.pending:
                return
            replica.isr_request = self.pending
        replica.out.append(Send(CONTROLLER, self.pending))

    def forget_what_was_not_sent(self, m: AlterPartitionResponse) -> None:
        """KAFKA-12686: an answer empties the partition's queue, whatever is in it (``DefaultAlterIsrManager``, 2.7 and 2.8)."""
        request = self.replica.isr_request
        if request is not None and request.correlation == m.correlation:
            self.replica.isr_request = None
            self.forgotten = self.pending is not None and self.pending is not request

    def take_isr_answer(self, now: int, m: AlterPartitionResponse) -> None:
        """The controller committed or refused the proposal.

        After a refusal for a stale version the true ISR is unknown: the proposal stays pending, so that the high watermark
        keeps waiting for everyone, until the controller's newer state arrives. A leader that writes itself tries again when
        there is reason to, in vain until it is elected anew (KAFKA-2729).
        """
        if self._writes_isr:
            self._take_written(now, m)
            return
        if m.leader_epoch != self.epoch:
            return
        if m.error is None:
            if m.partition_epoch > self.replica.partition_epoch:
                self._adopt(now, m.isr, m.partition_epoch)
                if self._looks_after_answers:
                    self.maybe_advance_hw(now)
            return
        if self.pending is None or m.correlation != self.pending.correlation:
            return
        if m.error in {INELIGIBLE_REPLICA, STALE_BROKER_EPOCH}:
            self.adopt(now, self.isr, self.replica.partition_epoch)

    def _take_written(self, now: int, m: AlterPartitionResponse) -> None:
        if self.pending is None or m.correlation != self.pending.correlation:
            return
        if m.error is None:
            self.adopt(now, m.isr, m.partition_epoch)
        else:
            self.pending = None
            self.maybe_advance_hw(now)

    def take_isr(self, now: int, state: LeaderAndIsr) -> None:
        """The controller changed the partition within this leader epoch."""
        self.eligible = state.eligible
        self._know(state.replicas)
        self.adopt(now, state.isr, state.partition_epoch)

    def adopt(self, now: int, isr: tuple[int, ...], partition_epoch: int) -> None:
        """Take a committed ISR, and commit what it allows."""
        self._adopt(now, isr, partition_epoch)
        self.maybe_advance_hw(now)

    def _adopt(self, now: int, isr: tuple[int, ...], partition_epoch: int) -> None:
        """Take a committed ISR; nothing is pending any more."""
        replica = self.replica
        replica.partition_epoch = partition_epoch
        self.isr = self.maximal = isr
        self.pending = None
        replica.out.append((now, replica.node_id, "isr", replica.name, isr, isr, partition_epoch))

    # Time

    def do_what_is_due(self, now: int, _m: object) -> None:
        """Shrink the ISR, repeat a lost proposal, answer fetches that waited long enough."""
        if self.pending is None:
            if now >= self._shrink_due:
                self._shrink_due = now + self.replica.settings.lag_time_us // 2
                self._maybe_shrink(now)
        elif now - self.pending_since >= self.replica.settings.request_timeout_us and not self.forgotten:
            self._send_pending(now)
        if self.parked_fetches:
            due = [source for source, (_, deadline) in self.parked_fetches.items() if deadline <= now]
            for source in due:
                fetch, _ = self.parked_fetches.pop(source)
                self._answer(fetch)
        if self.strangers:
            for source in [source for source, (_, deadline) in self.strangers.items() if deadline <= now]:
                self._answer(self.strangers.pop(source)[0])
        parked = self.parked_produces
        while parked and parked[0][3] <= now:
            _, request, base, _ = parked.popleft()
            self._acknowledge(request, base, REQUEST_TIMED_OUT)
        if self.parked_deletes:
            for _, delete, deadline in self.parked_deletes:
                if deadline <= now:
                    self._answer_delete(delete, -1, REQUEST_TIMED_OUT)
            self.parked_deletes = [waiting for waiting in self.parked_deletes if waiting[2] > now]
        if self._looks_after_answers and self.replica.hw < self.replica.log.leo:
            self.maybe_advance_hw(now)

    def resign(self, _now: int, _m: object) -> None:
        """Answer everything that waits: followers learn that this is no leader, producers that nothing is known."""
        for fetch, _ in (*self.parked_fetches.values(), *self.strangers.values()):
            self._refuse(fetch, NOT_LEADER)
        for _, request, base, _ in self.parked_produces:
            self._acknowledge(request, base, REQUEST_TIMED_OUT)
        for _, delete, _ in self.parked_deletes:
            self._answer_delete(delete, -1, NOT_LEADER)
