"""The controller: sessions, elections, ISR changes, and telling the brokers (docs/protocol.md, "Controller").

One reliable node. With ZooKeeper-era variants a restart within the session goes unnoticed and the ISR keeps the broker
(KAFKA-1120); from KIP-380 on (``bounce_detection``) a new incarnation is handled as failed first. A restarted *leader* always
gets a new leader epoch if it goes on leading, so no leader epoch is ever led by two processes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nodes.core.actions import Send, SetTimer
from nodes.core.events import Started, TimerFired
from nodes.core.messages import (
    CONTROLLER,
    FENCED_LEADER_EPOCH,
    INELIGIBLE_REPLICA,
    INVALID_UPDATE_VERSION,
    STALE_BROKER_EPOCH,
    AlterPartition,
    AlterPartitionResponse,
    Elect,
    Heartbeat,
    HeartbeatReply,
    LeaderAndIsr,
    Register,
    Registered,
)
from nodes.core.partition_state import PartitionState

if TYPE_CHECKING:
    from collections.abc import Callable

    from nodes.core.actions import Action
    from nodes.core.settings import Settings
    from nodes.core.variant import Variant


@dataclass(slots=True)
class Session:
    """What the controller knows of a broker; ``live`` means registered and not fenced."""

    incarnation: int = 0
    broker_epoch: int = -1
    live: bool = False
    last_heard_us: int = 0


class Controller:
    """The state machine of the controller.

    Args:
        brokers: all broker ids.
        partitions: name → replicas in assignment order.
        variant: decides bounce detection, broker epochs and ELR.
        settings: the cluster's settings.
        first_leader_epoch: the epoch of each partition's first leader.
    """

    def __init__(
        self,
        brokers: tuple[int, ...],
        partitions: dict[str, tuple[int, ...]],
        variant: Variant,
        settings: Settings,
        first_leader_epoch: int = 0,
    ) -> None:
        """Create the partitions; the first election happens when all brokers have registered once."""
        self.variant = variant
        self.settings = settings
        self.sessions = {b: Session() for b in brokers}
        self.partitions = {
            name: PartitionState(name, r, r, leader_epoch=first_leader_epoch - 1) for name, r in partitions.items()
        }
        self.out: list[Action] = []
        self._next_broker_epoch = 1
        self._told: dict[tuple[int, str], int] = {}
        self._opened = False
        self._go_on = {b: Send(b, HeartbeatReply(CONTROLLER, may_stop=False)) for b in brokers}
        self._next_tick = SetTimer(settings.tick_us, TimerFired("tick"))
        self._handlers: dict[type, Callable[[int, Any], None]] = {
            Heartbeat: self._on_heartbeat,
            Register: self._on_register,
            AlterPartition: self._on_alter_partition,
            Elect: self._on_elect,
            TimerFired: self._on_timer,
            Started: self._on_started,
        }

    def step(self, now_us: int, event: object) -> list[Action]:
        """Take one event; what to do about it, in order. The list is used again by the next step."""
        out = self.out
        out.clear()
        self._handlers[type(event)](now_us, event)
        return out

    # Sessions

    def _on_started(self, _now: int, _event: Started) -> None:
        self.out.append(self._next_tick)

    def _on_timer(self, now: int, _event: TimerFired) -> None:
        for broker, session in self.sessions.items():
            if session.live and now - session.last_heard_us > self.settings.session_us:
                self.out.append((now, CONTROLLER, "fence", "", broker))
                self._fail(now, broker)
        self.out.append(self._next_tick)

    def _on_register(self, now: int, m: Register) -> None:
        session = self.sessions[m.source]
        if m.incarnation < session.incarnation:
            return
        if session.incarnation != m.incarnation:
            self._new_incarnation(now, session, m)
        session.last_heard_us = now
        self.out.append(Send(m.source, Registered(CONTROLLER, m.incarnation, session.broker_epoch)))

    def _new_incarnation(self, now: int, session: Session, m: Register) -> None:
        broker = m.source
        clean = session.broker_epoch >= 0 and m.previous_broker_epoch == session.broker_epoch
        if session.live and self.variant.bounce_detection:
            self._fail(now, broker)
        if self.variant.elr and session.incarnation and not clean:
            self._forget_eligibility(now, broker)
        session.incarnation = m.incarnation
        session.broker_epoch = self._next_broker_epoch
        self._next_broker_epoch += 1
        session.live = True
        self.out.append((now, CONTROLLER, "register", "", broker, session.broker_epoch, clean))
        if not self._opened:
            self._maybe_open(now)
            return
        for partition in self.partitions.values():
            if partition.leader == broker:
                self._choose(now, partition, "resumed")
            elif partition.leader < 0:
                self._choose(now, partition, "online")
            self._tell(now, broker, partition)

    def _maybe_open(self, now: int) -> None:
        """Elect the first leaders once every broker is there."""
        if all(s.incarnation for s in self.sessions.values()):
            self._opened = True
            for partition in self.partitions.values():
                self._choose(now, partition, "initial")

    def _on_heartbeat(self, now: int, m: Heartbeat) -> None:
        session = self.sessions[m.source]
        if m.broker_epoch != session.broker_epoch:
            self.out.append(Send(m.source, HeartbeatReply(CONTROLLER, may_stop=False, error=STALE_BROKER_EPOCH)))
            return
        session.last_heard_us = now
        if m.shutting_down:
            if session.live:
                self._fail(now, m.source)
            self.out.append(Send(m.source, HeartbeatReply(CONTROLLER, may_stop=True)))
            return
        if not session.live:
            session.live = True
            for partition in self.partitions.values():
                if partition.leader < 0 and self._opened:
                    self._choose(now, partition, "online")
        self.out.append(self._go_on[m.source])
        known = m.known.get
        for name, partition in self.partitions.items():
            if known(name, -1) < partition.partition_epoch:
                told = self._told.get((m.source, name), -(1 << 62))
                if now - told >= self.settings.request_timeout_us // 2:
                    self._tell(now, m.source, partition)

    def _fail(self, now: int, broker: int) -> None:
        """A broker is gone (session ended, bounced, or shutting down): move leaders, shrink ISRs."""
        self.sessions[broker].live = False
        for partition in self.partitions.values():
            if broker not in partition.replicas:
                continue
            left = tuple(b for b in partition.isr if b != broker)
            changed = broker in partition.isr and (bool(left) or self.variant.elr)
            if changed:
                partition.with_isr(left, self.settings.min_isr, keep_elr=self.variant.elr)
            if partition.leader == broker:
                self._choose(now, partition, "online")
            elif changed:
                self._commit(now, partition)

    def _forget_eligibility(self, now: int, broker: int) -> None:
        """KIP-966: after an unclean shutdown a replica proves nothing any more."""
        for partition in self.partitions.values():
            if broker in partition.elr:
                partition.elr = tuple(b for b in partition.elr if b != broker)
                self._commit(now, partition)

    # Elections

    def _live(self, broker: int) -> bool:
        return self.sessions[broker].live

    def _choose(self, now: int, partition: PartitionState, how: str) -> None:
        """ONLINE election: keep a valid leader, else the first valid in assignment order, else what the settings allow."""
        valid = [b for b in partition.candidates() if self._live(b)]
        if valid:
            leader = partition.leader if partition.leader in valid else valid[0]
            self._lead(now, partition, leader, how, clean=True)
            return
        live = [b for b in partition.replicas if self._live(b)]
        if live and self.settings.unclean_election:
            self._lead(now, partition, live[0], "unclean", clean=False)
        elif self.variant.elr and not partition.isr and not partition.elr and partition.last_leader in live:
            self._lead(now, partition, partition.last_leader, "last-known", clean=False)
        elif partition.leader >= 0:
            self._lead(now, partition, -1, "offline", clean=True)

    def _lead(self, now: int, partition: PartitionState, leader: int, how: str, *, clean: bool) -> None:
        if leader >= 0:
            partition.last_leader = leader
            if leader not in partition.isr:
                if not clean:
                    partition.elr = ()
                    partition.isr = (leader,)
                else:
                    partition.with_isr((leader,), self.settings.min_isr, keep_elr=self.variant.elr)
        partition.leader = leader
        partition.leader_epoch += 1
        partition.partition_epoch += 1
        fields = (leader, partition.leader_epoch, partition.isr, partition.elr, how, clean, partition.partition_epoch)
        self.out.append((now, CONTROLLER, "elect", partition.name, *fields))
        self._broadcast(now, partition)

    def _on_elect(self, now: int, m: Elect) -> None:
        """An operator's election; refused (nothing happens) where Kafka would refuse it."""
        partition = self.partitions[m.partition]
        target = partition.replicas[0] if m.how == "preferred" else m.target
        if not self._opened or target == partition.leader or not self._live(target):
            return
        if target in partition.candidates():
            how = "forced" if m.how == "unclean" else m.how
            self._lead(now, partition, target, how, clean=True)
        elif m.how == "unclean":
            self._lead(now, partition, target, "unclean", clean=False)

    # ISR

    def _on_alter_partition(self, now: int, m: AlterPartition) -> None:
        partition = self.partitions[m.partition]
        error = self._alter_error(partition, m)
        if error is None:
            isr = tuple(b for b, _ in m.isr)
            partition.with_isr(isr, self.settings.min_isr, keep_elr=self.variant.elr)
            partition.partition_epoch += 1
            self._trace_isr(now, partition)
        response = AlterPartitionResponse(
            CONTROLLER,
            m.partition,
            m.correlation,
            partition.leader_epoch,
            partition.isr,
            partition.partition_epoch,
            error,
        )
        self.out.append(Send(m.source, response))
        if error is None:
            self._broadcast(now, partition, skip=m.source)

    def _alter_error(self, partition: PartitionState, m: AlterPartition) -> str | None:
        if m.source != partition.leader or m.leader_epoch != partition.leader_epoch:
            return FENCED_LEADER_EPOCH
        if m.partition_epoch != partition.partition_epoch:
            return INVALID_UPDATE_VERSION
        if not self.variant.broker_epoch_checks:
            return None
        if m.broker_epoch != self.sessions[m.source].broker_epoch:
            return STALE_BROKER_EPOCH
        for broker, epoch in m.isr:
            session = self.sessions[broker]
            if not session.live or epoch not in (-1, session.broker_epoch):
                return INELIGIBLE_REPLICA
        return None

    def _commit(self, now: int, partition: PartitionState) -> None:
        partition.partition_epoch += 1
        self._trace_isr(now, partition)
        self._broadcast(now, partition)

    def _trace_isr(self, now: int, partition: PartitionState) -> None:
        self.out.append(
            (now, CONTROLLER, "isr-change", partition.name, partition.isr, partition.elr, partition.partition_epoch)
        )

    # Telling the brokers

    def _broadcast(self, now: int, partition: PartitionState, skip: int = -1) -> None:
        for broker, session in self.sessions.items():
            if session.live and broker != skip:
                self._tell(now, broker, partition)

    def _tell(self, now: int, broker: int, partition: PartitionState) -> None:
        self._told[broker, partition.name] = now
        state = LeaderAndIsr(
            CONTROLLER,
            partition.name,
            partition.leader,
            partition.leader_epoch,
            partition.isr,
            partition.partition_epoch,
            partition.replicas,
            self.sessions[broker].broker_epoch,
            tuple(b for b in partition.replicas if self._live(b)),
        )
        self.out.append(Send(broker, state))
