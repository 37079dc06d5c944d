"""The controller of a cluster with KRaft (presets from 3.7 on).

A process that registers is fenced until it has caught up with what holds when it registers; while the last process of the broker
has a session, another one is refused (``ClusterControlManager.registerBroker``, DUPLICATE_BROKER_REGISTRATION). A controlled
shutdown is granted when leadership has moved and every active broker has heard of it (``BrokerHeartbeatManager``). Every broker
reads what is decided from the metadata log, fenced or not; here each state is a message, and what a heartbeat does not report is
sent again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.nodes.core.actions import Send
from tidemark.nodes.core.controller.elections import Controller, Session
from tidemark.nodes.core.messages import (
    CONTROLLER,
    NEW_LEADER_ELECTED,
    STALE_BROKER_EPOCH,
    AlterPartition,
    Heartbeat,
    HeartbeatReply,
    Register,
    Registered,
)

if TYPE_CHECKING:
    from tidemark.nodes.core.partition_state import PartitionState
    from tidemark.nodes.core.settings import Settings
    from tidemark.nodes.core.variant import Variant

NEVER = -(1 << 62)
UNCLEAN_INTERVAL_US = 300_000_000
"""``unclean.leader.election.interval.ms``, which no run sets: how often the controller looks for partitions that nobody leads and
that may have an unclean leader. From its beginning in 4.x (``PeriodicTaskControlManager``), in 3.9 since nobody leads one."""


class KRaftController(Controller):
    """Fences brokers, and lets them stop when everybody knows."""

    def __init__(
        self,
        brokers: tuple[int, ...],
        partitions: dict[str, tuple[int, ...]],
        variant: Variant,
        settings: Settings,
        first_leader_epoch: int = 0,
    ) -> None:
        """See :class:`~tidemark.nodes.core.controller.elections.Controller`; no broker is registered yet."""
        super().__init__(brokers, partitions, variant, settings, first_leader_epoch)
        self._told: dict[tuple[int, str], int] = {}
        self._awaited: dict[int, dict[str, int]] = {b: {} for b in brokers}
        """Broker → partition epochs: those it must know before it is unfenced, or others before it may stop."""
        self._elects_unclean_us = UNCLEAN_INTERVAL_US
        self._go_on = {b: Send(b, HeartbeatReply(CONTROLLER, may_stop=False)) for b in brokers}
        self._may_stop = {b: Send(b, HeartbeatReply(CONTROLLER, may_stop=True)) for b in brokers}

    # Sessions

    def _look(self, now: int) -> None:
        if self.failed:
            return
        silent = [b for b, session in self.sessions.items() if session.live and self._overdue(now, session)]
        if len(silent) > 1 and "KAFKA-13173" in self.variant.bugs:
            self._fence_each_as_if_alone(now, silent)
            return
        for broker in silent:
            self._fence(now, broker)
        if now >= self._elects_unclean_us:
            self._elects_unclean_us = now + UNCLEAN_INTERVAL_US
            if self.unclean:
                self._elect_where_nobody_leads(now)

    def _heeds_unclean(self) -> bool:
        return self.unclean and self.variant.heeds_unclean

    def _unclean_changed(self, now: int) -> None:
        """Nothing: the next election goes by it, or the look that is due every five minutes."""
        if self.variant.elects_when_allowed and self.unclean:
            self._elect_where_nobody_leads(now)

    def _take_over(self, now: int) -> None:
        """Everybody's session begins anew (``BrokerHeartbeatManager.register``), and nothing is known of who was told what."""
        self._elects_unclean_us = now + UNCLEAN_INTERVAL_US
        for session in self.sessions.values():
            session.last_heard_us = now
        self._told.clear()

    def _fence(self, now: int, broker: int) -> None:
        self.out.append((now, CONTROLLER, "fence", "", broker))
        self._end_session(now, broker)

    def _fence_each_as_if_alone(self, now: int, silent: list[int]) -> None:
        """KAFKA-13173: records are made for each broker from the same state, in which the others are there, and replayed in turn.

        A record names the leader only if it changes (``PartitionChangeBuilder.build``), so an earlier one's stays.
        """
        for broker in silent:
            self.out.append((now, CONTROLLER, "fence", "", broker))
        for partition in self.partitions.values() if self._opened else ():
            leader, isr, leaders = partition.leader, partition.isr, 0
            for broker in silent:
                left = tuple(b for b in partition.isr if b != broker)
                if broker not in partition.isr or not (left or self.elr):
                    continue
                isr = left
                if partition.leader == broker:
                    leader = next((b for b in partition.replicas if b in left and self._live(b)), -1)
                    leaders += 1
            if (leader, isr) == (partition.leader, partition.isr):
                continue
            self._set_isr(partition, isr)
            if not leaders:
                self._commit(now, partition)
                continue
            self._remember_leader(partition, leader)
            partition.leader = leader
            partition.leader_epoch += 1
            partition.partition_epoch += 1
            fields = (leader, partition.leader_epoch, isr, partition.elr, "online", True, partition.partition_epoch)
            self.out.append((now, CONTROLLER, "elect", partition.name, *fields))
            self._broadcast(now, partition)
        for broker in silent:
            session = self.sessions[broker]
            session.live = session.stopping = False

    def _on_register(self, now: int, m: Register) -> None:
        session = self.sessions[m.source]
        if m.incarnation < session.incarnation:
            return
        if session.incarnation != m.incarnation:
            if session.live:
                if not self._overdue(now, session):
                    return
                self._fence(now, m.source)
            self._registered(now, session, m)
            session.known = {}
            self._awaited[m.source] = self._now_known() if self._opened else {}
            if self._opened:
                for partition in self.partitions.values():
                    self._tell(now, m.source, partition)
        session.last_heard_us = now
        self.out.append(Send(m.source, Registered(CONTROLLER, m.incarnation, session.broker_epoch)))

    def _now_known(self) -> dict[str, int]:
        return {name: partition.partition_epoch for name, partition in self.partitions.items()}

    def _on_heartbeat(self, now: int, m: Heartbeat) -> None:
        broker = m.source
        session = self.sessions[broker]
        if m.broker_epoch != session.broker_epoch:
            self.out.append(Send(broker, HeartbeatReply(CONTROLLER, may_stop=False, error=STALE_BROKER_EPOCH)))
            return
        session.last_heard_us = now
        session.known = m.known
        if m.shutting_down:
            self.out.append(self._shut_down(now, broker))
            return
        if not session.live and _knows(session, self._awaited[broker]):
            session.live = True
            self.out.append((now, CONTROLLER, "unfence", "", broker))
            self._online(now)
        self.out.append(self._go_on[broker])
        known = m.known.get
        unheard = m.settings < self._changes
        for name, partition in self.partitions.items():
            if unheard or known(name, -1) < partition.partition_epoch:
                told = self._told.get((broker, name), NEVER)
                if now - told >= self.settings.request_timeout_us // 2:
                    self._tell(now, broker, partition)

    def _shut_down(self, now: int, broker: int) -> Send:
        """The next state of a broker that wants to stop (``BrokerHeartbeatManager.calculateNextBrokerState``)."""
        session = self.sessions[broker]
        if not session.live:
            return self._may_stop[broker]
        leads = any(partition.leader == broker for partition in self.partitions.values())
        if not session.stopping and leads:
            session.stopping = True
            self._leave(now, broker)
            self._awaited[broker] = self._now_known()
            return self._go_on[broker]
        if leads or (session.stopping and not self._all_know(self._awaited[broker])):
            return self._go_on[broker]
        self._end_session(now, broker)
        return self._may_stop[broker]

    def _all_know(self, epochs: dict[str, int]) -> bool:
        """Whether every active broker, neither fenced nor stopping, has heard of these."""
        return all(_knows(self.sessions[b], epochs) for b in self.sessions if self._live(b))

    def _enough(self, partition: PartitionState) -> int:
        """Kafka counts the replicas of the topic's partition 0 (``ReplicationControlManager.getTopicEffectiveMinIsr``)."""
        if self.variant.own_replicas_bound_min_isr:
            return super()._enough(partition)
        return super()._enough(next(iter(self.partitions.values())))

    # Reassignments

    def _refuses(self, partition: PartitionState, replicas: tuple[int, ...]) -> str:
        """A broker that has registered once will do, fenced or not (``validateManualPartitionAssignment``)."""
        if not replicas and not self._heeds_unclean() and set(partition.isr) <= set(partition.adding):
            return "it cannot be taken back without an unclean election"
        if not replicas and self.variant.cancel_keeps_min_isr:
            left = set(partition.isr) - set(partition.adding)
            enough = min(self.min_isr, len(partition.replicas) - len(partition.adding))
            if len(left) < min(len(partition.isr), enough):
                return f"fewer than {enough} replicas would be in the ISR"
        return ""

    def _reassign(self, now: int, partition: PartitionState, replicas: tuple[int, ...]) -> None:
        """What is there now is what it begins with, be it there for an earlier reassignment (``changePartitionReassignment``).

        A list that would be empty is not written, and so stays what it was: the order may be disobeyed
        (docs/findings/reassignment-replaced.md).
        """
        if not replicas:
            self._take_back(now, partition)
            return
        before = (partition.replicas, partition.adding, partition.removing)
        there, obeys = set(partition.replicas), self.variant.obeys_last_order
        origin = there - set(partition.adding) if obeys else there
        adding = tuple(sorted((there | set(replicas)) - origin))
        removing = tuple(sorted(there - set(replicas)))
        partition.adding = adding if adding or obeys else partition.adding
        partition.removing = removing if removing or obeys else partition.removing
        partition.replicas = (*replicas, *removing)
        if isr := self._isr_at_end(partition, partition.isr):
            self._complete(now, partition, isr)
        elif before != (partition.replicas, partition.adding, partition.removing):
            self._trace_replicas(now, partition)
            partition.partition_epoch += 1
            self._broadcast(now, partition)

    def _take_back(self, now: int, partition: PartitionState) -> None:
        """Who was added goes, and who was to go stays (``PartitionReassignmentRevert``)."""
        added = set(partition.adding)
        left = tuple(b for b in partition.isr if b not in added)
        partition.replicas = tuple(b for b in partition.replicas if b not in added)
        partition.adding = partition.removing = ()
        self._set_isr(partition, left or partition.replicas[:1])
        self._trace_replicas(now, partition)
        if not left and self._live(partition.replicas[0]):
            self._lead(now, partition, partition.replicas[0], "unclean", clean=False)
        elif added:
            self._choose(now, partition, "reassigned")
        else:
            self._commit(now, partition)

    def _isr_at_end(self, partition: PartitionState, isr: tuple[int, ...]) -> tuple[int, ...]:
        """The ISR that a reassignment leaves behind, were ``isr`` committed now; () if it were not complete with it, or if there
        is none (``PartitionReassignmentReplicas.maybeCompleteReassignment``).
        """
        if not partition.is_reassigned:
            return ()
        wanted = partition.target() if self.variant.whole_target_in_sync else partition.adding
        if self.variant.obeys_last_order:
            wanted = tuple(b for b in wanted if b not in partition.removing)
        left = tuple(b for b in isr if b not in partition.removing)
        return left if set(wanted) <= set(left) else ()

    def _complete(self, now: int, partition: PartitionState, isr: tuple[int, ...]) -> None:
        """The end of a reassignment. The leader epoch is raised if anybody goes; a leader that goes gives way."""
        somebody_goes = bool(partition.removing)
        partition.replicas = partition.target()
        partition.adding = partition.removing = ()
        self._set_isr(partition, isr)
        self._trace_replicas(now, partition)
        if somebody_goes:
            self._choose(now, partition, "reassigned")
        else:
            self._commit(now, partition)

    def _on_alter_partition(self, now: int, m: AlterPartition) -> None:
        """A proposal may complete a reassignment, and is one change with it (``completeReassignmentIfNeeded``)."""
        partition = self.partitions[m.partition]
        isr = self._isr_at_end(partition, tuple(b for b, _ in m.isr))
        if not isr or self._alter_error(partition, m) is not None:
            super()._on_alter_partition(now, m)
            return
        self._complete(now, partition, isr)
        error = None if partition.leader == m.source else NEW_LEADER_ELECTED
        self.out.append(Send(m.source, self._answer(partition, m, error)))

    # Telling the brokers

    def _altered(self, now: int, partition: PartitionState, *, shrunk: bool) -> None:
        if shrunk and self.variant.shrink_raises_epoch:
            partition.leader_epoch += 1
            fields = (partition.leader, partition.leader_epoch, partition.isr, partition.elr)
            self.out.append(
                (now, CONTROLLER, "elect", partition.name, *fields, "shrunk", True, partition.partition_epoch)
            )
        else:
            super()._altered(now, partition, shrunk=shrunk)

    def _tell_of_isr(self, now: int, partition: PartitionState, leader: int) -> None:
        self._broadcast(now, partition, skip=-1 if self.variant.shrink_raises_epoch else leader)

    def _hears(self, broker: int) -> bool:
        return self.sessions[broker].incarnation > 0

    def _tell(self, now: int, broker: int, partition: PartitionState) -> None:
        self._told[broker, partition.name] = now
        self.out.append(Send(broker, self._state(broker, partition)))


def _knows(session: Session, epochs: dict[str, int]) -> bool:
    known = session.known.get
    return all(known(name, -1) >= epoch for name, epoch in epochs.items())
