"""The controller of a cluster with ZooKeeper (up to 3.x; presets to 2.7), and as much of ZooKeeper as it takes.

A broker's process is there as long as its ephemeral node is: made by the registration, gone when the session is closed or silent
for too long. While it is there, another process of the same broker is refused (``KafkaZkClient.registerBroker``, NODEEXISTS). The
controller looks at the nodes now and then, and compares with what it saw last (``KafkaController.BrokerChange``, 2.1.0): a broker
that went and came in between looks as if nothing had been (KAFKA-1120), unless broker epochs are compared too (KIP-380, 2.2.0).

What it decides it sends to each broker as requests, in order, one at a time, each repeated until it is answered
(``ControllerChannelManager.RequestSendThread``). The end of a broker's session is the end of what still waited for it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tidemark.nodes.core.actions import Send
from tidemark.nodes.core.controller.elections import Controller
from tidemark.nodes.core.messages import (
    CONTROLLER,
    INVALID_UPDATE_VERSION,
    STALE_BROKER_EPOCH,
    AllowUnclean,
    AlterPartition,
    Heartbeat,
    HeartbeatReply,
    LeaderAndIsr,
    Register,
    Registered,
    StateTaken,
)

if TYPE_CHECKING:
    from tidemark.nodes.core.partition_state import PartitionState
    from tidemark.nodes.core.settings import Settings
    from tidemark.nodes.core.variant import Variant


@dataclass(slots=True)
class Requests:
    """What a broker is to be told: the first is under way, sent last at ``sent_us``."""

    waiting: deque[LeaderAndIsr] = field(default_factory=deque)
    sent_us: int = 0


class ZooKeeperController(Controller):
    """Sees brokers come and go late, tells them everything in order, and does not fence."""

    def __init__(
        self,
        brokers: tuple[int, ...],
        partitions: dict[str, tuple[int, ...]],
        variant: Variant,
        settings: Settings,
        first_leader_epoch: int = 0,
    ) -> None:
        """See :class:`~tidemark.nodes.core.controller.elections.Controller`; no broker's node is there yet."""
        super().__init__(brokers, partitions, variant, settings, first_leader_epoch)
        self._handlers[StateTaken] = self._on_state_taken
        self._while_failed[Register] = self._on_register
        self._while_failed[Heartbeat] = self._on_heartbeat
        if variant.leader_writes_isr:
            self._while_failed[AlterPartition] = self._on_alter_partition
        self._while_failed[AllowUnclean] = self._on_unclean
        self._there = dict.fromkeys(brokers, False)
        """Broker → whether its ephemeral node exists."""
        self._seen = dict.fromkeys(brokers, -1)
        """Broker → the broker epoch (the node's czxid) that the controller saw when it last counted the broker as new."""
        self._requests = {b: Requests() for b in brokers}
        self._correlation = 0
        self._compares_versions_first = ("KAFKA-1382" if variant.leader_writes_isr else "KAFKA-14144") in variant.bugs
        self._go_on = {b: Send(b, HeartbeatReply(CONTROLLER, may_stop=False)) for b in brokers}

    # ZooKeeper

    def _on_register(self, now: int, m: Register) -> None:
        session = self.sessions[m.source]
        if m.incarnation < session.incarnation:
            return
        if not self._there[m.source]:
            self._there[m.source] = True
            self._registered(now, session, m)
        elif m.incarnation != session.incarnation:
            return
        session.last_heard_us = now
        self.out.append(Send(m.source, Registered(CONTROLLER, m.incarnation, session.broker_epoch)))

    def _on_heartbeat(self, now: int, m: Heartbeat) -> None:
        broker = m.source
        session = self.sessions[broker]
        if m.broker_epoch != session.broker_epoch or not self._there[broker]:
            self.out.append(Send(broker, HeartbeatReply(CONTROLLER, may_stop=False, error=STALE_BROKER_EPOCH)))
            return
        session.last_heard_us = now
        if m.closing:
            self._there[broker] = False
        elif m.shutting_down:
            if not self.failed:
                self._shut_down(now, broker)
        else:
            self.out.append(self._go_on[broker])

    # The controller

    def _shut_down(self, now: int, broker: int) -> None:
        """Controlled shutdown: the broker may stop when it leads nothing any more (``doControlledShutdown``, each time it asks)."""
        session = self.sessions[broker]
        if session.live:
            session.stopping = True
            self._leave(now, broker)
        leads = any(p.leader == broker for p in self.partitions.values())
        self.out.append(Send(broker, HeartbeatReply(CONTROLLER, may_stop=not leads)))

    def _keeps(self, partition: PartitionState, broker: int) -> bool:
        """A broker that shuts down goes on leading what nobody else can lead (``ControlledShutdownPartitionLeaderElection``)."""
        if not self.sessions[broker].stopping or partition.leader != broker:
            return False
        return not any(self._live(b) for b in partition.candidates())

    def _look(self, now: int) -> None:
        there, seen = self._there, self._seen
        came: list[int] = []
        went: list[int] = []
        bounced: list[int] = []
        for broker, session in self.sessions.items():
            if there[broker] and self._overdue(now, session):
                there[broker] = False
            if there[broker] != session.live:
                (went if session.live else came).append(broker)
            elif session.live and seen[broker] != session.broker_epoch:
                bounced.append(broker)
        if self.failed:
            return
        if came:
            self._start_up(now, came)
        if bounced and self.variant.bounce_detection:
            self._fail(now, bounced)
            self._start_up(now, bounced)
        if went:
            self._fail(now, went)
        for broker, requests in self._requests.items():
            if requests.waiting and now - requests.sent_us >= self.settings.request_timeout_us // 2:
                self._send_first(now, broker)

    def _fail(self, now: int, brokers: list[int]) -> None:
        """Brokers are gone: all of them, before anybody is elected (``removeLiveBrokers``, then ``onBrokerFailure``)."""
        for broker in brokers:
            session = self.sessions[broker]
            if not session.stopping:
                self.out.append((now, CONTROLLER, "fence", "", broker))
            session.live = False
            self._requests[broker].waiting.clear()
        for broker in brokers:
            self._end_session(now, broker)

    def _start_up(self, now: int, brokers: list[int]) -> None:
        """Tell brokers that are new what holds, then elect where they can help (``onBrokerStartup``)."""
        for broker in brokers:
            session = self.sessions[broker]
            session.live = True
            session.stopping = False
            self._seen[broker] = session.broker_epoch
            self._requests[broker].waiting.clear()
        if self._opened:
            for broker in brokers:
                for partition in self.partitions.values():
                    self._tell(now, broker, partition)
        if brokers:
            self._online(now)
            self._resume(now, brokers)

    def _take_over(self, now: int) -> None:
        """Whoever has a node is live; tell them all everything, and elect where no live broker leads (``onControllerFailover``).

        What the last controller had not sent is never sent. A member of an ISR that is gone stays in it until the leader sees. One
        that stopped and started meanwhile stays too: what the last controller had seen of broker epochs went with it.
        """
        bounced = []
        for broker, session in self.sessions.items():
            if session.live and self._there[broker] and self._seen[broker] != session.broker_epoch:
                bounced.append(broker)
            if session.live and not self._there[broker]:
                self.out.append((now, CONTROLLER, "fence", "", broker))
            session.live = self._there[broker]
            session.stopping = False
            self._seen[broker] = session.broker_epoch
            self._requests[broker].waiting.clear()
        if not self._opened:
            self._online(now)
            return
        if bounced and self.variant.failover_sees_bounces:
            self._fail(now, bounced)
            self._start_up(now, bounced)
        for partition in self.partitions.values():
            self._broadcast(now, partition)
        for partition in self.partitions.values():
            if not self._hears(partition.leader):
                self._choose(now, partition, "online")
        self._resume(now)

    def _unclean_changed(self, now: int) -> None:
        """A controller asks ZooKeeper in each election, and a follower that is out of range does, too: here brokers are told."""
        self._note_change(now)
        if self.failed:
            return
        for partition in self.partitions.values():
            self._broadcast(now, partition)
        if self.unclean and self.variant.elects_when_allowed:
            self._elect_where_nobody_leads(now)

    # Elections and ISR

    def _alter_error(self, partition: PartitionState, m: AlterPartition) -> str | None:
        """A leader that writes the ISR itself is refused for a stale version only (``ReplicationUtils.updateLeaderAndIsr``)."""
        if not self.variant.leader_writes_isr:
            return super()._alter_error(partition, m)
        return INVALID_UPDATE_VERSION if m.partition_epoch != partition.partition_epoch else None

    def _on_alter_partition(self, now: int, m: AlterPartition) -> None:
        """What a leader proposed and did not hear the answer to is answered again."""
        partition = self.partitions[m.partition]
        same = (
            not self._compares_versions_first
            and m.leader_epoch == partition.leader_epoch
            and tuple(b for b, _ in m.isr) == partition.isr
        )
        if same and m.source == partition.leader and m.partition_epoch < partition.partition_epoch:
            self.out.append(Send(m.source, self._answer(partition, m, None)))
        else:
            super()._on_alter_partition(now, m)
            if partition.is_reassigned and not self.failed and self._all_in_sync(partition):
                self._complete(now, partition)

    def _tell_of_isr(self, now: int, partition: PartitionState, leader: int) -> None:
        """Only clients are told (UpdateMetadata), and they do not ask for ISRs here."""

    # Reassignments

    def _refuses(self, partition: PartitionState, replicas: tuple[int, ...]) -> str:
        if partition.is_reassigned and not self.variant.reassignments_replace:
            return f"{partition.name} is being reassigned, and that must end first"
        absent = [b for b in replicas if b not in partition.replicas and not self._live(b)]
        return f"broker {absent[0]} is not there" if absent else ""

    def _reassign(self, now: int, partition: PartitionState, replicas: tuple[int, ...]) -> None:
        """It begins with the replicas that there were before any reassignment (``ReplicaAssignment.reassignTo``), and to take one
        back is to order these (``KafkaController.maybeBuildReassignment``).
        """
        before = partition.replicas
        origin = tuple(b for b in before if b not in partition.adding)
        replicas = replicas or origin
        partition.replicas = tuple(dict.fromkeys((*replicas, *origin)))
        partition.adding = tuple(b for b in partition.replicas if b not in origin)
        partition.removing = tuple(b for b in partition.replicas if b not in replicas)
        self._trace_replicas(now, partition)
        self._stop_replicas(now, partition, [b for b in before if b not in partition.replicas])
        self._go_on_with(now, partition)

    def _all_in_sync(self, partition: PartitionState) -> bool:
        return set(partition.target()) <= set(partition.isr)

    def _go_on_with(self, now: int, partition: PartitionState) -> None:
        """``KafkaController.onPartitionReassignment``: raise the leader epoch, so that all replicas are told; or end it."""
        if not partition.is_reassigned or self._all_in_sync(partition):
            self._complete(now, partition)
        else:
            self._lead(now, partition, partition.leader, "reassigning", clean=True)

    def _complete(self, now: int, partition: PartitionState) -> None:
        """In two rounds: the new replicas with the old ISR, perhaps under a new leader; then the ISR without those who go."""
        going = partition.removing
        if partition.is_reassigned:
            partition.replicas = partition.target()
            partition.adding = partition.removing = ()
            self._trace_replicas(now, partition)
        in_sync = [b for b in partition.replicas if b in partition.isr and self._live(b)]
        if partition.leader in partition.replicas and self._live(partition.leader):
            self._lead(now, partition, partition.leader, "reassigned", clean=True)
        elif in_sync:
            self._lead(now, partition, in_sync[0], "reassigned", clean=True)
        self._stop_replicas(now, partition, going)

    def _stop_replicas(self, now: int, partition: PartitionState, going: Iterable[int]) -> None:
        """Take brokers out of the ISR and out of leadership, and have those that are there delete what they have.

        Nobody tells a broker that is away when it comes back: its log stays (``stopRemovedReplicasOfReassignedPartition``).
        """
        for broker in going:
            if broker in partition.isr:
                left = tuple(b for b in partition.isr if b != broker) or partition.isr
                self._set_isr(partition, left)
                if partition.leader == broker:
                    self._lead(now, partition, -1, "offline", clean=True)
                else:
                    self._lead(now, partition, partition.leader, "shrunk", clean=True)
            if self._hears(broker):
                self._tell(now, broker, partition, delete=True)

    def _resume(self, now: int, brokers: Collection[int] = ()) -> None:
        """Go on with reassignments to brokers that came (to any, if none are named)."""
        for partition in self.partitions.values():
            if partition.is_reassigned and (not brokers or set(partition.target()) & set(brokers)):
                self._go_on_with(now, partition)

    # Telling the brokers

    def _hears(self, broker: int) -> bool:
        return broker > 0 and self.sessions[broker].live

    def _tell(self, now: int, broker: int, partition: PartitionState, *, delete: bool = False) -> None:
        waiting = self._requests[broker].waiting
        state = self._state(broker, partition)
        state.delete = delete
        state.controller_epoch = self._terms
        self._correlation += 1
        state.correlation = self._correlation
        waiting.append(state)
        if len(waiting) == 1:
            self._send_first(now, broker)

    def _send_first(self, now: int, broker: int) -> None:
        requests = self._requests[broker]
        requests.sent_us = now
        self.out.append(Send(broker, requests.waiting[0]))

    def _on_state_taken(self, now: int, m: StateTaken) -> None:
        waiting = self._requests[m.source].waiting
        if waiting and waiting[0].correlation == m.correlation:
            waiting.popleft()
            if waiting:
                self._send_first(now, m.source)
