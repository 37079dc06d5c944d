"""A broker: its replicas, its session with the controller, its shutdown; one file, for all of them end and begin together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tidemark.nodes.core.actions import (
    Delete,
    Halt,
    MarkCleanShutdown,
    Send,
    SetTimer,
    WriteHighWatermarks,
    WriteLogStarts,
)
from tidemark.nodes.core.epoch_cache import NO_EPOCH_END
from tidemark.nodes.core.events import RetentionDue, ShutdownRequested, Started, TimerFired
from tidemark.nodes.core.messages import (
    CONTROLLER,
    NOT_LEADER,
    OFFSET_OUT_OF_RANGE,
    STALE_BROKER_EPOCH,
    AlterPartitionResponse,
    ConsumeRequest,
    ConsumeResponse,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    EpochRequest,
    EpochResponse,
    FetchRequest,
    FetchResponse,
    Heartbeat,
    HeartbeatReply,
    LeaderAndIsr,
    MetadataRequest,
    MetadataResponse,
    ProduceRequest,
    ProduceResponse,
    Register,
    Registered,
    StateTaken,
)
from tidemark.nodes.core.replica import Replica
from tidemark.nodes.core.roles import Event, Role
from tidemark.nodes.core.settings import MS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.nodes.core.actions import Action
    from tidemark.nodes.core.follower import Following
    from tidemark.nodes.core.recovery import Recovered
    from tidemark.nodes.core.settings import Settings
    from tidemark.nodes.core.variant import Variant

PUBLISH = SetTimer(5 * MS, TimerFired("metadata"))
"""How long a broker takes from finding a change in the metadata log to acting on it: about a round trip to the controller."""

# Looking a member up in its class costs more than the rest of the dispatch, and its plain string is found sooner than it.
FETCHING = Role.FETCHING
PRODUCE = Event.PRODUCE.value
RECORDS = Event.RECORDS.value
TICK = Event.TICK.value
_KRAFT_SESSIONS = 33
"""How long a broker waits for permission to stop, with KRaft: 5 minutes, a session being 9 s (``BrokerServer.shutdown``)."""
REQUESTS = {
    FetchRequest: Event.FETCH.value,
    EpochRequest: Event.EPOCH_REQUEST.value,
    ConsumeRequest: Event.CONSUME.value,
}
"""What is asked of a leader; a producer's request is looked at first (controlled shutdown)."""


class Broker:
    """The state machine of one broker process, from start to halt. A restart is a new object with what recovery found.

    Args:
        node_id: 1, 2, 3 …
        incarnation: counts this broker's starts.
        variant: the protocol it speaks.
        settings: the cluster's settings.
        recovered: what its disk gave back.
    """

    def __init__(
        self, node_id: int, incarnation: int, variant: Variant, settings: Settings, recovered: Recovered
    ) -> None:
        """Set up the replicas; nothing happens before ``Started``."""
        self.node_id = node_id
        self.incarnation = incarnation
        self.variant = variant
        self.settings = settings
        self.broker_epoch = -1
        self.min_isr = settings.min_isr
        self.unclean = settings.unclean_election
        """As far as this broker has heard."""
        self._changes_heard = 0
        self.out: list[Action] = []
        self.dispatch: dict[Role, dict[str, Callable[[int, Any], Any]]] = {}
        """Role → frequent event → what is done with it whatever the replica; filled by the first replica in that role."""
        self.replicas = {name: Replica(self, name, found) for name, found in recovered.partitions.items()}
        self.leaders: dict[str, int] = {}
        self.dead_fetchers: set[int] = set()
        """Leaders whose fetcher thread has ended (before KIP-461). Nothing is fetched from them any more."""
        self._known: dict[str, int] = {}
        """Partition → newest partition epoch seen; reported in heartbeats so that lost states are sent again."""
        self._correlations: dict[str, int] = {}
        """Partition → the last request of a replica that was deleted. The next one goes on there, as a client of Kafka does, and
        takes no answer to the one before for its own.
        """
        self._unpublished: dict[str, LeaderAndIsr] = {}
        """Partition → the last state found in the metadata log that was not acted on yet."""
        self._early: list[LeaderAndIsr] = []
        """States that overtook the answer to the registration they belong to."""
        self.hears_controller = variant.metadata_log
        """With ZooKeeper a process serves nobody before it is registered (``KafkaServer.startup``)."""
        self._controller_epoch = 0
        self._proof = recovered.clean_broker_epoch
        self._heartbeat_due = 0
        self._checkpoint_due = settings.hw_checkpoint_us
        self._log_starts_due = settings.log_start_checkpoint_us
        self._log_starts = recovered.log_starts
        """As they are in the checkpoint."""
        self._stop_by: int | None = None
        self._next_tick = SetTimer(settings.tick_us, TimerFired("tick"))
        self._handlers: dict[type, Callable[[int, Any], None] | None] = {
            **dict.fromkeys(REQUESTS),  # the replica's, if there is one
            FetchResponse: self._on_fetch_response,
            ProduceRequest: self._on_produce,
            EpochResponse: self._on_epoch_response,
            MetadataRequest: self._on_metadata,
            LeaderAndIsr: self._on_leader_and_isr,
            AlterPartitionResponse: self._on_alter_response,
            Registered: self._on_registered,
            HeartbeatReply: self._on_heartbeat_reply,
            TimerFired: self._on_timer,
            DeleteRecordsRequest: self._on_delete,
            RetentionDue: self._on_retention,
            Started: self._on_started,
            ShutdownRequested: self._on_shutdown,
        }
        self._no_replica: dict[str, Callable[[int, Any], None]] = {
            Event.FETCH: self.refuse_fetch,
            Event.EPOCH_REQUEST: self.refuse_epoch_request,
            Event.CONSUME: self.refuse_consumer,
        }
        """What is asked of a partition that has no replica here."""

    def step(self, now_us: int, event: Any) -> list[Action]:  # noqa: ANN401 (a message or one of tidemark.nodes.core.events)
        """Take one event; what to do about it, in order. The list is used again by the next step."""
        out = self.out
        out.clear()
        kind = type(event)
        handler = self._handlers[kind]
        if handler is None:
            replica = self.replicas.get(event.partition)
            (self._no_replica if replica is None else replica.on)[REQUESTS[kind]](now_us, event)
        else:
            handler(now_us, event)
        return out

    # Replication and clients

    def _on_produce(self, now: int, m: ProduceRequest) -> None:
        replica = self.replicas.get(m.partition)
        if replica is None:
            self.refuse_produce(now, m)
        else:
            replica.on[PRODUCE](now, m)

    def _on_fetch_response(self, now: int, m: FetchResponse) -> None:
        replica = self.replicas.get(m.partition)
        if replica is None or (following := replica.following) is None:
            return
        if m.correlation != following.in_flight or replica.role is not FETCHING:
            return
        if m.error is not None:
            replica.happens(Event.OUT_OF_RANGE if m.error == OFFSET_OUT_OF_RANGE else Event.FETCH_ERROR, now, m)
        elif m.diverging is not None:
            replica.happens(Event.DIVERGING, now, m)
        else:
            replica.on[RECORDS](now, m)

    def _on_epoch_response(self, now: int, m: EpochResponse) -> None:
        replica = self.replicas.get(m.partition)
        if replica is None or (following := replica.following) is None or replica.role is not Role.TRUNCATING:
            return
        if m.correlation == following.in_flight or (
            not self.variant.fresh_answers and self._may_be_taken(m, following)
        ):
            replica.happens(Event.EPOCH_END if m.error is None else Event.EPOCH_ERROR, now, m)

    def _may_be_taken(self, m: EpochResponse, following: Following) -> bool:
        """Whether this process asked this leader, however long ago: its thread waits for one answer at a time (KAFKA-7786)."""
        return m.source == following.leader and m.correlation >> 32 == self.incarnation

    def fetcher_died(self, now: int, leader: int, first: Replica) -> None:
        """The thread that fetches from a leader ends, and with it the fetching of every partition that has this leader."""
        self.dead_fetchers.add(leader)
        for replica in self.replicas.values():
            if replica is not first and replica.following is not None and replica.leader == leader:
                replica.happens(Event.FETCHER_DIED, now, None)

    def leaves_fetcher(self, leader: int, leaving: Replica) -> None:
        """A replica has another leader now; a thread without partitions is removed (``shutdownIdleFetcherThreads``)."""
        if leader in self.dead_fetchers and not any(
            replica.following is not None and replica.leader == leader
            for replica in self.replicas.values()
            if replica is not leaving
        ):
            self.dead_fetchers.discard(leader)

    def refuse_fetch(self, _now: int, m: FetchRequest) -> None:
        """Tell a follower that this is not its leader."""
        response = FetchResponse(self.node_id, m.partition, m.correlation, [], 0, 0, NOT_LEADER)
        self.out.append(Send(m.source, response))

    def refuse_epoch_request(self, _now: int, m: EpochRequest) -> None:
        """Tell a follower that this is not its leader."""
        response = EpochResponse(self.node_id, m.partition, m.correlation, NO_EPOCH_END, NOT_LEADER)
        self.out.append(Send(m.source, response))

    def refuse_produce(self, _now: int, m: ProduceRequest) -> None:
        """Tell a producer that nothing was appended."""
        self.out.append(Send(m.source, ProduceResponse(self.node_id, m.partition, m.correlation, -1, NOT_LEADER)))

    def refuse_consumer(self, _now: int, m: ConsumeRequest) -> None:
        """Tell a consumer to look elsewhere."""
        response = ConsumeResponse(self.node_id, m.partition, m.correlation, [], 0, NOT_LEADER)
        self.out.append(Send(m.source, response))

    def refuse_delete(self, _now: int, m: DeleteRecordsRequest) -> None:
        """Tell a client that nothing was deleted here."""
        self.out.append(Send(m.source, DeleteRecordsResponse(self.node_id, m.partition, m.correlation, -1, NOT_LEADER)))

    def _on_delete(self, now: int, m: DeleteRecordsRequest) -> None:
        replica = self.replicas.get(m.partition)
        if replica is None:
            self.refuse_delete(now, m)
        else:
            replica.happens(Event.DELETE, now, m)

    def _on_retention(self, now: int, event: RetentionDue) -> None:
        replica = self.replicas.get(event.partition)
        if replica is not None:
            replica.happens(Event.RETENTION, now, event)

    def _on_metadata(self, _now: int, m: MetadataRequest) -> None:
        self.out.append(Send(m.source, MetadataResponse(self.node_id, m.correlation, dict(self.leaders))))

    # Controller

    def _on_leader_and_isr(self, now: int, m: LeaderAndIsr) -> None:
        if not self.hears_controller:
            return
        if m.correlation:
            self.out.append(Send(CONTROLLER, StateTaken(self.node_id, m.correlation)))
        if self.variant.bounce_detection and m.broker_epoch != self.broker_epoch:
            if self.broker_epoch < 0:
                self._early.append(m)
            return
        if m.controller_epoch < self._controller_epoch:
            return  # STALE_CONTROLLER_EPOCH: a late request of a controller that there is no longer (ZooKeeper)
        self._controller_epoch = m.controller_epoch
        if m.settings > self._changes_heard:
            self.unclean = m.unclean
            self._hear_of_min_isr(now, m)
        name = m.partition
        new = m.partition_epoch > self._known.get(name, -1)
        if new:
            self._known[name] = m.partition_epoch
        if not self.variant.metadata_log:
            self._act_on(now, m)
        elif new:
            if not self._unpublished:
                self.out.append(PUBLISH)
            self._unpublished[name] = m

    def _hear_of_min_isr(self, now: int, m: LeaderAndIsr | AlterPartitionResponse) -> None:
        self._changes_heard = m.settings
        self.out.append((now, self.node_id, "settings", "", m.settings))
        self.min_isr = m.min_isr
        for replica in self.replicas.values():
            if replica.leading is not None:
                replica.leading.heed_min_isr()

    def _publish(self, now: int) -> None:
        """Act on what the metadata log says by now (MetadataLoader, BrokerMetadataPublisher)."""
        states, self._unpublished = self._unpublished, {}
        for state in states.values():
            self._act_on(now, state)

    def _act_on(self, now: int, m: LeaderAndIsr) -> None:
        name = m.partition
        if m.partition_epoch >= self._known.get(name, -1):
            self.leaders[name] = m.leader
        if self._stop_by is not None and not self.variant.metadata_log and m.leader != self.node_id:
            m = replace(m, leader=-1)  # StopReplica: a broker that shuts down follows nobody any more
        replica = self.replicas.get(name)
        if self.node_id in m.replicas:
            if replica is None:
                replica = self.replicas[name] = Replica(self, name, None)
                replica.correlation = self._correlations.pop(name, replica.correlation)
            replica.on_leader_and_isr(now, m)
        elif replica is not None:
            self._is_no_replica(now, replica, m)

    def _is_no_replica(self, now: int, replica: Replica, m: LeaderAndIsr) -> None:
        """What this broker has of a partition is not wanted any more, if it is told so.

        From the metadata log it is told in any case, also of a log that it finds when it starts (``TopicsDelta.localChanges``,
        ``LogManager.isStrayKraftReplica``). With ZooKeeper it takes a ``StopReplica`` of a newer leader epoch (KIP-570, 2.6; before
        KIP-455, 2.4, there was no other). A log that nobody asks it to delete stays, but for its high watermark, of which the next
        checkpoint says nothing (``ReplicaManager.checkpointHighWatermarks``).
        """
        if self.variant.metadata_log and "KAFKA-13198" in self.variant.bugs:
            return
        if self.variant.metadata_log or (m.delete and m.leader_epoch > replica.leader_epoch):
            self._remove(now, replica)
        elif replica.role is Role.NO_LEADER and replica.leader_epoch < 0:
            replica.hw = replica.log.start

    def _remove(self, now: int, replica: Replica) -> None:
        name, ending = replica.name, replica.role is Role.HALTED
        replica.happens(Event.REMOVED, now, None)
        if ending:
            return
        self.leaves_fetcher(replica.leader, replica)
        del self.replicas[name]
        self._correlations[name] = replica.correlation
        self.out.append((now, self.node_id, "removed", name, replica.leo, replica.leader_epoch))
        self.out.append(Delete(name))
        self.checkpoint_high_watermarks()
        self.checkpoint_log_starts()

    def _on_alter_response(self, now: int, m: AlterPartitionResponse) -> None:
        if m.settings > self._changes_heard:
            self._hear_of_min_isr(now, m)
        replica = self.replicas.get(m.partition)
        if replica is None:
            return
        if replica.isr_request is not None:
            if replica.leading is not None:
                replica.leading.forget_what_was_not_sent(m)
            elif replica.isr_request.correlation == m.correlation:
                replica.isr_request = None
        replica.happens(Event.ISR_ANSWER, now, m)
        if replica.role is Role.LEADING:
            self._known[m.partition] = max(self._known.get(m.partition, -1), replica.partition_epoch)

    def _on_registered(self, now: int, m: Registered) -> None:
        if m.incarnation == self.incarnation and self.broker_epoch < 0:
            self.broker_epoch = m.broker_epoch
            self.hears_controller = True
            early, self._early = self._early, []
            for state in early:
                self._on_leader_and_isr(now, state)
            self._heartbeat(now)

    def _on_heartbeat_reply(self, now: int, m: HeartbeatReply) -> None:
        if m.error == STALE_BROKER_EPOCH:
            self.broker_epoch = -1
            self._known.clear()
            self._unpublished.clear()
        elif m.may_stop and self._stop_by is not None:
            self._stop(now)

    def _heartbeat(self, now: int) -> None:
        self._heartbeat_due = now + self.settings.heartbeat_us
        if self.broker_epoch < 0:
            self.out.append(Send(CONTROLLER, Register(self.node_id, self.incarnation, self._proof)))
        else:
            beat = Heartbeat(
                self.node_id,
                self.broker_epoch,
                dict(self._known),
                self._stop_by is not None,
                settings=self._changes_heard,
            )
            self.out.append(Send(CONTROLLER, beat))

    # Life cycle

    def _on_started(self, now: int, _event: Started) -> None:
        self._checkpoint_due = now + self.settings.hw_checkpoint_us
        self._log_starts_due = now + self.settings.log_start_checkpoint_us
        self._heartbeat(now)
        self.out.append(self._next_tick)

    def _on_timer(self, now: int, event: TimerFired) -> None:
        if event is PUBLISH.event:
            self._publish(now)
            return
        if self._stop_by is not None and now >= self._stop_by:
            self._stop(now)
            return
        if now >= self._heartbeat_due:
            self._heartbeat(now)
        for replica in self.replicas.values():
            replica.on[TICK](now, None)
        if now >= self._checkpoint_due:
            self._checkpoint_due = now + self.settings.hw_checkpoint_us
            self.checkpoint_high_watermarks()
        if now >= self._log_starts_due:
            self._log_starts_due = now + self.settings.log_start_checkpoint_us
            self.checkpoint_log_starts()
        self.out.append(self._next_tick)

    def checkpoint_high_watermarks(self) -> None:
        """Have the high watermarks of all replicas on disk (``replication-offset-checkpoint``)."""
        self.out.append(WriteHighWatermarks({name: replica.hw for name, replica in self.replicas.items()}))

    def checkpoint_log_starts(self) -> None:
        """A log that begins where its first batch does needs none (``LogManager.checkpointLogStartOffsetsInDir``)."""
        logs = {name: replica.log for name, replica in self.replicas.items()}
        starts = {name: log.start for name, log in logs.items() if log.start > log.base}
        if starts != self._log_starts:
            self._log_starts = starts
            self.out.append(WriteLogStarts(starts))

    def _on_shutdown(self, now: int, _event: ShutdownRequested) -> None:
        """Ask the controller to take leadership away; go after a while even if it does not answer (controlled shutdown).

        With KRaft a process that is not registered yet goes at once (``BrokerLifecycleManager.BeginControlledShutdownEvent``).
        """
        if self._stop_by is not None:
            return
        self._stop_by = now + (_KRAFT_SESSIONS if self.variant.metadata_log else 1) * self.settings.session_us
        if self.variant.metadata_log and self.broker_epoch < 0:
            self._stop(now)
        else:
            self._heartbeat(now)

    def _stop(self, now: int) -> None:
        for replica in self.replicas.values():
            replica.happens(Event.STOP, now, None)
        self.checkpoint_high_watermarks()
        self.checkpoint_log_starts()
        # Not before 3.7, when LogManager.shutdown made an empty file; CleanShutdownFileHandler.write syncs it.
        self.out.append(MarkCleanShutdown(self.broker_epoch, synced=self.variant.metadata_log))
        if not self.variant.metadata_log:
            self.out.append(Send(CONTROLLER, Heartbeat(self.node_id, self.broker_epoch, {}, True, True)))
        self.out.append(Halt("clean"))
