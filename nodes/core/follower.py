"""What a replica does while it follows: truncate as its rule says, then fetch (docs/protocol.md, "Truncation").

Which of the steps here is taken when, and what the replica is then, is :data:`tidemark.nodes.core.roles.TABLE`'s to say. A
step takes the time and the message that caused it; one that leaves a choice returns the role that comes next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.nodes.core.actions import Append, Halt, Send
from tidemark.nodes.core.epoch_cache import NO_EPOCH_END, UNDEFINED
from tidemark.nodes.core.log import Batch, OutOfOrderError
from tidemark.nodes.core.messages import EpochRequest, EpochResponse, FetchRequest, FetchResponse
from tidemark.nodes.core.roles import Event, Role
from tidemark.nodes.core.truncation.rule import Step

if TYPE_CHECKING:
    from tidemark.nodes.core.replica import Replica


class Following:
    """One follower's work for one leader in one leader epoch.

    Attributes:
        in_flight: correlation of the latest request. sent_us: when it was sent.
        established: the first fetch of this epoch was answered with neither error nor divergence.
        answers: how many questions about epochs were answered.
    """

    __slots__ = ("answers", "epoch", "established", "in_flight", "leader", "replica", "sent_us")

    def __init__(self, replica: Replica, leader: int, epoch: int) -> None:
        """Follow ``leader`` in ``epoch``; nothing is sent yet."""
        self.replica = replica
        self.leader = leader
        self.epoch = epoch
        self.established = False
        self.answers = 0
        self.in_flight = 0
        self.sent_us = 0

    # Truncating

    def truncate(self, now: int, _m: object) -> Role:
        """Do what the truncation rule says of a new leader, if there is a thread to do it (``AbstractFetcherManager``)."""
        if self.leader in self.replica.broker.dead_fetchers:
            return Role.FAILED
        return self._do(now, self.replica.rule.on_new_leader(self.replica))

    def truncate_to_answer(self, now: int, m: EpochResponse) -> Role:
        """Do what the rule says of the leader's answer."""
        self.answers += 1
        return self._do(now, self.replica.rule.on_answer(self.replica, m.answer))

    def truncate_diverging(self, now: int, m: FetchResponse) -> Role:
        """Do what the rule says of the epoch that diverges."""
        replica = self.replica
        if "KAFKA-14704" in replica.variant.bugs:
            self._follow_leader(now, m)
        return self._do(now, replica.rule.on_answer(replica, m.diverging or NO_EPOCH_END))

    def truncate_out_of_range(self, now: int, m: FetchResponse) -> Role:
        """Cut to the end of a leader's log that ends before this one, or begin anew at the start of one that starts after its end.

        If the leader's log has grown meanwhile, only fetch later (``AbstractFetcherThread.fetchOffsetAndTruncate``, Kafka 3.9).

        Before KAFKA-7414 a broker takes this for the data loss that must not happen, and stops
        (``ReplicaFetcherThread.handleOffsetOutOfRange``, to 1.1.1 and 2.0.0).
        """
        replica = self.replica
        if m.leo >= replica.log.leo:
            if m.start <= replica.log.leo:
                return Role.FETCHING_DELAYED
            replica.begin_at(now, m.start, f"out of range: to the leader's log start {m.start}")
            self.established = False
            return self._do(now, Step())
        if replica.variant.out_of_range_cuts or replica.broker.unclean:
            return self._do(now, Step(cut=m.leo, why=f"out of range: to the leader's log end {m.leo}"))
        why = f"leader's log end {m.leo} is below own {replica.log.leo}, and unclean election is disabled"
        return self._do(now, Step(why=why, halt=True))

    def _do(self, now: int, step: Step) -> Role:
        replica = self.replica
        if step.cut is not None:
            replica.cut(now, step.cut, step.why)
        if step.halt:
            replica.out.append((now, replica.node_id, "fatal", replica.name, step.why))
            replica.out.append(Halt("fatal"))
            return Role.HALTED
        if step.ask and replica.latest_epoch != UNDEFINED:
            self.ask(now)
            return Role.TRUNCATING
        self.fetch(now)
        return Role.FETCHING

    def ask(self, now: int, _m: object = None) -> None:
        """Ask the leader where an epoch ends, most often the own latest one (OffsetForLeaderEpoch)."""
        replica = self.replica
        question = replica.rule.question(replica)
        self.sent_us = now
        self.in_flight = replica.correlation = correlation = replica.correlation + 1
        replica.out.append((now, replica.node_id, "ask", replica.name, self.leader, question.epoch))
        replica.out.append(
            Send(
                self.leader,
                EpochRequest(replica.node_id, replica.name, question.epoch, self.epoch, correlation, question.lineage),
            )
        )

    def ask_if_overdue(self, now: int, _m: object) -> None:
        """Ask again if there was no answer for a while; or take that for an error."""
        if now - self.sent_us >= self.replica.settings.request_timeout_us:
            if self.replica.variant.errors_cut_to_hw:
                self.replica.happens(Event.EPOCH_ERROR, now, None)
            else:
                self.ask(now)

    def go_on_without_answer(self, now: int, _m: object) -> Role:
        """Ask again later. KIP-279: "any error … will result in falling back to truncating using High Watermark"."""
        if self.replica.variant.errors_cut_to_hw:
            return self._do(now, Step(cut=self.replica.hw, why="no answer: to high watermark"))
        return Role.TRUNCATING_DELAYED

    # Fetching

    def fetch(self, now: int, _m: object = None) -> None:
        """Fetch from the log's end on."""
        replica = self.replica
        self.sent_us = now
        self.in_flight = replica.correlation = correlation = replica.correlation + 1
        last = replica.cache.latest if replica.epoch_in_fetch else UNDEFINED
        replica.out.append(
            Send(
                self.leader,
                FetchRequest(
                    replica.node_id,
                    replica.name,
                    replica.log.leo,
                    self.epoch,
                    last,
                    replica.broker.broker_epoch,
                    correlation,
                    replica.log.start,
                ),
            )
        )

    def fetch_if_overdue(self, now: int, _m: object) -> None:
        """Fetch again if there was no answer for a while."""
        if now - self.sent_us >= self.replica.settings.request_timeout_us:
            self.fetch(now)

    def append(self, now: int, m: FetchResponse) -> None:
        """Append what came, follow the leader's high watermark, fetch on."""
        replica = self.replica
        log = replica.log
        out = replica.out
        if m.start < log.start == log.leo and replica.cache.latest == UNDEFINED and replica.variant.keep_last_epoch:
            replica.begin_at(now, m.start, f"nothing in common: to the leader's log start {m.start}")
            self.fetch(now)
            return
        if not self.established:
            self.established = True
            out.append((now, replica.node_id, "fetched", replica.name, self.epoch, self.leader))
        for batch in m.batches:
            try:
                log.append(batch)
            except OutOfOrderError:
                if not self._begins_with(now, batch, m.start):
                    replica.happens(Event.OUT_OF_ORDER, now, batch)
                    return
                log.append(batch)
            if batch.epoch != replica.cache.latest:
                replica.note_epoch(batch)
            out.append(Append(replica.name, batch))
        self._follow_leader(now, m)
        self.fetch(now)

    def _follow_leader(self, now: int, m: FetchResponse) -> None:
        """Take over the leader's high watermark, as far as the log goes, and its log start.

        Or the own log end for a high watermark, where the rule has it so.
        """
        replica = self.replica
        hw = replica.log.leo if replica.hw_at_log_end else m.hw
        if hw != replica.hw:
            replica.follow_hw(now, hw)
        if replica.log.start < m.start <= replica.hw and replica.variant.delete_records:
            replica.advance_start(now, m.start, "leader")

    def _begins_with(self, now: int, batch: Batch, leaders_start: int) -> bool:
        """Let an empty log begin where a batch does that reaches across it.

        The leader's log start may lie inside a batch, which always comes whole (KAFKA-6975,
        ``Partition.appendRecordsToFollowerOrFutureReplica``). The repair does so with a log, too, that holds nothing but what its
        leader's has given up.
        """
        replica = self.replica
        log = replica.log
        empty = log.start == log.leo or (replica.variant.begin_anew and log.leo <= leaders_start)
        if not empty or not batch.base < log.leo < batch.end or "KAFKA-6975" in replica.variant.bugs:
            return False
        replica.begin_at(now, batch.base, f"the leader's batch begins at {batch.base}")
        return True

    def report_out_of_order(self, now: int, batch: Batch) -> None:
        """Leave it in the trace that a batch does not continue the log."""
        replica = self.replica
        replica.out.append((now, replica.node_id, "out-of-order", replica.name, batch.base, replica.log.leo))
        if not replica.variant.failures_stay_apart:
            replica.broker.fetcher_died(now, self.leader, replica)

    def give_up(self, _now: int, _m: object) -> None:
        """Ask for nothing more; whatever was asked is forgotten."""
        self.in_flight = -1
