"""What every controller does: elections, ISR changes, and the word that goes out (docs/protocol.md, "Controller").

One node, which may fail and be replaced by another that knows what was written. How it knows which brokers there are, and how it
tells them what it decided, is the subclass's: :mod:`~tidemark.nodes.core.controller.zookeeper` or
:mod:`~tidemark.nodes.core.controller.kraft`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tidemark.nodes.core.actions import Send, SetTimer
from tidemark.nodes.core.events import ControllerElected, ControllerFailed, Started, TimerFired
from tidemark.nodes.core.messages import (
    CONTROLLER,
    FENCED_LEADER_EPOCH,
    INELIGIBLE_REPLICA,
    INVALID_UPDATE_VERSION,
    STALE_BROKER_EPOCH,
    AllowUnclean,
    AlterPartition,
    AlterPartitionResponse,
    Elect,
    Heartbeat,
    LeaderAndIsr,
    Reassign,
    Register,
    SetMinIsr,
    SwitchElr,
)
from tidemark.nodes.core.partition_state import PartitionState

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.nodes.core.actions import Action
    from tidemark.nodes.core.settings import Settings
    from tidemark.nodes.core.variant import Variant


@dataclass(slots=True)
class Session:
    """What the controller knows of a broker.

    Attributes:
        live: it counts as there: its session goes on, and with KRaft it is not fenced.
        stopping: a controlled shutdown has begun; it must not lead or join an ISR any more.
        known: partition → newest partition epoch it has reported.
    """

    incarnation: int = 0
    broker_epoch: int = -1
    live: bool = False
    stopping: bool = False
    last_heard_us: int = 0
    known: dict[str, int] = field(default_factory=dict)


class Controller(ABC):
    """The state machine of the controller.

    Args:
        brokers: all broker ids.
        partitions: name → replicas in assignment order.
        variant: decides ELR, broker epochs, what an ISR that shrinks does to the leader epoch.
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
        self.min_isr = settings.min_isr
        self.elr = variant.elr
        """Whether it is on now: an operator can switch it, where the variant has it."""
        self.unclean = settings.unclean_election
        """Whether unclean elections are allowed now."""
        self._changes = 0
        """How often an operator has changed what brokers are to hear of."""
        self.out: list[Action] = []
        self._next_broker_epoch = 1
        self.failed = False
        self._terms = 1
        self._opened = False
        self._next_tick = SetTimer(settings.tick_us, TimerFired("tick"))
        self._handlers: dict[type, Callable[[int, Any], None]] = {
            Heartbeat: self._on_heartbeat,
            Register: self._on_register,
            AlterPartition: self._on_alter_partition,
            Elect: self._on_elect,
            Reassign: self._on_reassign,
            SetMinIsr: self._on_min_isr,
            SwitchElr: self._on_elr,
            AllowUnclean: self._on_unclean,
            TimerFired: self._on_timer,
            Started: self._on_started,
            ControllerFailed: self._on_failed,
            ControllerElected: self._on_elected,
        }
        self._while_failed: dict[type, Callable[[int, Any], None]] = {
            TimerFired: self._on_timer,
            ControllerElected: self._on_elected,
        }
        """What still happens while there is no controller; all else is lost."""

    def step(self, now_us: int, event: object) -> list[Action]:
        """Take one event; what to do about it, in order. The list is used again by the next step."""
        out = self.out
        out.clear()
        if not self.failed:
            self._handlers[type(event)](now_us, event)
        elif (handler := self._while_failed.get(type(event))) is not None:
            handler(now_us, event)
        return out

    # Sessions

    def _on_started(self, _now: int, _event: Started) -> None:
        self.out.append(self._next_tick)

    def _on_failed(self, now: int, _event: ControllerFailed) -> None:
        self.failed = True
        self.out.append((now, CONTROLLER, "stop", "", "crash"))

    def _on_elected(self, now: int, _event: ControllerElected) -> None:
        if self.failed:
            self.failed = False
            self._terms += 1
            self.out.append((now, CONTROLLER, "start", "", self._terms))
            self._take_over(now)

    @abstractmethod
    def _take_over(self, now: int) -> None:
        """Begin with what is written."""

    def _on_timer(self, now: int, _event: TimerFired) -> None:
        self._look(now)
        self.out.append(self._next_tick)

    @abstractmethod
    def _look(self, now: int) -> None:
        """Do what is due: end sessions that were silent for too long, repeat what was not answered."""

    @abstractmethod
    def _on_register(self, now: int, m: Register) -> None:
        """A broker's process wants to be part of the cluster."""

    @abstractmethod
    def _on_heartbeat(self, now: int, m: Heartbeat) -> None:
        """A broker is there, and perhaps wants to go."""

    def _overdue(self, now: int, session: Session) -> bool:
        return now - session.last_heard_us > self.settings.session_us

    def _registered(self, now: int, session: Session, m: Register) -> None:
        """A process becomes the broker's; it gets a broker epoch."""
        clean = session.broker_epoch >= 0 and m.previous_broker_epoch == session.broker_epoch
        if self.elr and session.incarnation:
            self._begins_anew(now, m.source, clean=clean or "KAFKA-15586" in self.variant.bugs)
        session.incarnation = m.incarnation
        session.broker_epoch = self._next_broker_epoch
        self._next_broker_epoch += 1
        self.out.append((now, CONTROLLER, "register", "", m.source, session.broker_epoch, clean))

    def _online(self, now: int) -> None:
        """Brokers came back: open the cluster once all have been there, later elect where nobody leads."""
        if self._opened:
            for partition in self.partitions.values():
                if partition.leader < 0:
                    self._choose(now, partition, "online")
                    if self._forgets_elr(partition):
                        self._commit(now, partition)
        elif all(session.live for session in self.sessions.values()):
            self._opened = True
            for partition in self.partitions.values():
                self._choose(now, partition, "initial")

    def _end_session(self, now: int, broker: int) -> None:
        """A broker is silent, gone, or replaced by another process of its own."""
        session = self.sessions[broker]
        session.live = session.stopping = False
        self._leave(now, broker)

    def _leave(self, now: int, broker: int) -> None:
        """Move leadership away from a broker, and take it out of every ISR that has another member.

        Before all brokers have been there, no partition has been made.
        """
        if not self._opened:
            return
        for partition in self.partitions.values():
            if broker not in partition.replicas or self._keeps(partition, broker):
                continue
            left = tuple(b for b in partition.isr if b != broker)
            changed = broker in partition.isr and (bool(left) or self.elr)
            if changed:
                self._set_isr(partition, left)
            if partition.leader == broker:
                self._choose(now, partition, "online")
            elif changed:
                self._shrunk(now, partition)

    def _keeps(self, partition: PartitionState, broker: int) -> bool:
        """Whether a broker that is to leave stays what it is for this partition."""
        return False

    def _shrunk(self, now: int, partition: PartitionState) -> None:
        """The controller took a member out of an ISR whose leader stays."""
        if self.variant.shrink_raises_epoch and partition.leader >= 0:
            self._lead(now, partition, partition.leader, "shrunk", clean=True)
        else:
            self._commit(now, partition)

    def _begins_anew(self, now: int, broker: int, *, clean: bool) -> None:
        """KIP-966: a broker's process is another one, so it leaves the ISRs that it is still in; after an unclean shutdown its
        replicas prove nothing any more (``ReplicationControlManager.handleBrokerShutdown``).

        While ELR is on, who is down is in no ISR. It is only if ELR was switched on meanwhile.
        """
        for partition in self.partitions.values() if self._opened else ():
            stays_in_isr, before = broker in partition.isr, partition.elr
            if stays_in_isr:
                left = tuple(b for b in partition.isr if b != broker)
                self._set_isr(partition, left)
            if not clean and broker in partition.elr:
                partition.elr = tuple(b for b in partition.elr if b != broker)
                if stays_in_isr and self.variant.safe_elr_switch and not (partition.isr or partition.elr):
                    partition.last_leader = broker
            if stays_in_isr or partition.elr != before:
                self._commit(now, partition)
                if partition.leader < 0:
                    self._choose(now, partition, "online")

    # Elections

    def _live(self, broker: int) -> bool:
        session = self.sessions[broker]
        return session.live and not session.stopping

    def _choose(self, now: int, partition: PartitionState, how: str) -> None:
        """ONLINE election: keep a valid leader, else the first valid in assignment order, else what the settings allow."""
        valid = [b for b in partition.candidates() if self._live(b)]
        if valid:
            leader = partition.leader if partition.leader in valid else valid[0]
            self._lead(now, partition, leader, how, clean=True)
            return
        live = [b for b in partition.replicas if self._live(b)]
        if self._may_lead_again(partition, live):
            self._lead(now, partition, partition.last_leader, "last-known", clean=False)
        elif live and self._heeds_unclean():
            self._lead(now, partition, live[0], "unclean", clean=False)
        elif partition.leader >= 0:
            self._lead(now, partition, -1, "offline", clean=True)

    def _may_lead_again(self, partition: PartitionState, live: list[int]) -> bool:
        """Whether nobody is eligible any more and the last known leader may lead (``PartitionChangeBuilder.electAnyLeader``)."""
        on = self.elr or self.variant.safe_elr_switch
        if not on or partition.isr or partition.elr or partition.last_leader < 0:
            return False
        return partition.last_leader in live or ("KAFKA-19522" in self.variant.bugs and partition.leader < 0)

    def _lead(self, now: int, partition: PartitionState, leader: int, how: str, *, clean: bool) -> None:
        self._remember_leader(partition, leader)
        self._forgets_elr(partition)
        if leader >= 0 and leader not in partition.isr:
            if clean:
                self._set_isr(partition, (leader,))
            else:
                partition.elr = ()
                partition.isr = (leader,)
        partition.leader = leader
        partition.leader_epoch += 1
        partition.partition_epoch += 1
        fields = (leader, partition.leader_epoch, partition.isr, partition.elr, how, clean, partition.partition_epoch)
        self.out.append((now, CONTROLLER, "elect", partition.name, *fields))
        self._broadcast(now, partition)

    def _remember_leader(self, partition: PartitionState, leader: int) -> None:
        """KIP-966's last known leader. Kafka notes it when there is none any more and nobody is noted, and takes that back when
        there is one again, both only while ELR is on (``PartitionChangeBuilder.maybeUpdateLastKnownLeader``).
        """
        if self.elr or self.variant.safe_elr_switch:
            partition.last_leader = leader if leader >= 0 else partition.last_leader
        elif partition.last_leader in (-1, partition.leader):
            partition.last_leader = leader

    def _on_elect(self, now: int, m: Elect) -> None:
        """An operator's election; refused (nothing happens) where Kafka would refuse it."""
        partition = self.partitions[m.partition]
        target = partition.replicas[0] if m.how == "preferred" else m.target
        if not self._opened or target == partition.leader or target not in partition.replicas or not self._live(target):
            return
        if target in partition.candidates():
            how = "forced" if m.how == "unclean" else m.how
            if self.variant.moved_leader_leaves_isr and partition.leader >= 0:
                staying = tuple(b for b in partition.isr if b != partition.leader)
                self._set_isr(partition, staying)
            self._lead(now, partition, target, how, clean=True)
        elif m.how == "unclean":
            self._lead(now, partition, target, "unclean", clean=False)

    # Reassignments

    def _on_reassign(self, now: int, m: Reassign) -> None:
        """An operator's reassignment; refused (nothing happens) where Kafka would refuse it."""
        if not self.refuses(m):
            self.out.append((now, CONTROLLER, "ordered", m.partition, m.replicas, True))
            self._reassign(now, self.partitions[m.partition], m.replicas)

    def refuses(self, m: Reassign) -> str:
        """Why a reassignment is refused, as a sentence; empty if it is not. To order none takes back what is under way."""
        strange = [b for b in m.replicas if b not in self.sessions]
        if strange:
            return f"there is no broker {strange[0]}"
        names_none = not m.replicas and not self.partitions[m.partition].is_reassigned
        if names_none or len(set(m.replicas)) < len(m.replicas):
            return "a partition has at least one replica, and no broker has two of one partition"
        if not self._opened or self.failed:
            return "there is no controller" if self.failed else "not all brokers have registered yet"
        return self._refuses(self.partitions[m.partition], m.replicas)

    @abstractmethod
    def _refuses(self, partition: PartitionState, replicas: tuple[int, ...]) -> str:
        """The same, for what depends on the generation."""

    @abstractmethod
    def _reassign(self, now: int, partition: PartitionState, replicas: tuple[int, ...]) -> None:
        """Begin a reassignment, or change the one that is under way; end it if there is nothing to wait for."""

    def _trace_replicas(self, now: int, partition: PartitionState) -> None:
        fields = (partition.replicas, partition.adding, partition.removing)
        self.out.append((now, CONTROLLER, "reassign", partition.name, *fields))

    # Settings

    def _enough(self, partition: PartitionState) -> int:
        """Members that are enough for an ISR: min ISR, or as many as there are replicas."""
        return min(self.min_isr, len(partition.replicas))

    def _on_min_isr(self, now: int, m: SetMinIsr) -> None:
        """An operator sets min ISR, of which brokers hear as they hear of leadership. To set it to what it is changes nothing."""
        if not self._opened or m.min_isr == self.min_isr:
            return
        self.min_isr = m.min_isr
        self.out.append((now, CONTROLLER, "min-isr", "", m.min_isr))
        self._note_change(now)
        for partition in self.partitions.values():
            if self._elr_changes(partition):
                self._commit(now, partition)
            else:
                self._broadcast(now, partition)

    def _note_change(self, now: int) -> None:
        """A setting is another, and brokers are told how often that has been so."""
        self._changes += 1
        self.out.append((now, CONTROLLER, "settings", "", self._changes))

    def _on_elr(self, now: int, m: SwitchElr) -> None:
        """An operator switches ELR. Nothing changes at once; a variant that has no ELR refuses."""
        if self._opened and self.variant.elr and m.on != self.elr:
            self.elr = m.on
            self.out.append((now, CONTROLLER, "elr-switch", "", m.on))

    def _on_unclean(self, now: int, m: AllowUnclean) -> None:
        """An operator allows unclean elections, or forbids them. What was elected stays."""
        if not self._opened or m.on == self.unclean:
            return
        self.unclean = m.on
        self.out.append((now, CONTROLLER, "unclean-switch", "", m.on))
        self._unclean_changed(now)

    def _heeds_unclean(self) -> bool:
        """Whether whoever is there may be elected, in sync or not."""
        return self.unclean

    @abstractmethod
    def _unclean_changed(self, now: int) -> None:
        """Do what is due at once."""

    def _elect_where_nobody_leads(self, now: int) -> None:
        """Hold an election wherever there is no leader."""
        for partition in self.partitions.values():
            if partition.leader < 0:
                self._choose(now, partition, "online")

    def _elr_changes(self, partition: PartitionState) -> bool:
        """KIP-966: whether a partition changes with min ISR. The controller forgets who is eligible, and who led last where nobody
        does, however empty the ISR may be (``ClearElrRecord``, ``ReplicationControlManager.removeTopicElrs``).
        """
        if not self.elr:
            return False
        before = partition.elr, partition.last_leader
        if self.variant.min_isr_keeps_elr:
            self._set_isr(partition, partition.isr)
        else:
            partition.elr = ()
            partition.last_leader = partition.leader
        return before != (partition.elr, partition.last_leader)

    def _forgets_elr(self, partition: PartitionState) -> bool:
        """Where ELR is off, any change of a partition empties its ELR, be it that nobody is elected
        (``PartitionChangeBuilder.maybeUpdateRecordElr``). Whether it did.
        """
        if self.elr or not partition.elr or (self.variant.safe_elr_switch and not partition.isr):
            return False
        partition.elr = ()
        return True

    # ISR

    def _set_isr(self, partition: PartitionState, isr: tuple[int, ...]) -> None:
        """It is committed, and the ELR with it."""
        partition.with_isr(isr, self._enough(partition), self.variant, elr=self.elr)

    def _on_alter_partition(self, now: int, m: AlterPartition) -> None:
        partition = self.partitions[m.partition]
        error = self._alter_error(partition, m)
        if error is None:
            isr = tuple(b for b, _ in m.isr)
            shrunk = not set(isr) >= set(partition.isr)
            self._set_isr(partition, isr)
            partition.partition_epoch += 1
            self._altered(now, partition, shrunk=shrunk)
        self.out.append(Send(m.source, self._answer(partition, m, error)))
        if error is None:
            self._tell_of_isr(now, partition, m.source)

    def _answer(self, partition: PartitionState, m: AlterPartition, error: str | None) -> AlterPartitionResponse:
        return AlterPartitionResponse(
            CONTROLLER,
            m.partition,
            m.correlation,
            partition.leader_epoch,
            partition.isr,
            partition.partition_epoch,
            error,
            *((self.min_isr, self._changes) if self.variant.answers_tell_min_isr else ()),
        )

    def _altered(self, now: int, partition: PartitionState, *, shrunk: bool) -> None:
        """A leader's proposal was committed."""
        self._trace_isr(now, partition)

    @abstractmethod
    def _tell_of_isr(self, now: int, partition: PartitionState, leader: int) -> None:
        """Tell of an ISR that the leader proposed, and knows of by the answer."""

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
            if not self._live(broker) or epoch not in (-1, self.sessions[broker].broker_epoch):
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
        for broker in self.sessions:
            if broker != skip and self._hears(broker):
                self._tell(now, broker, partition)

    @abstractmethod
    def _hears(self, broker: int) -> bool:
        """Whether a broker is told of what is decided now."""

    @abstractmethod
    def _tell(self, now: int, broker: int, partition: PartitionState) -> None:
        """Tell a broker what holds of a partition."""

    def _state(self, broker: int, partition: PartitionState) -> LeaderAndIsr:
        return LeaderAndIsr(
            CONTROLLER,
            partition.name,
            partition.leader,
            partition.leader_epoch,
            partition.isr,
            partition.partition_epoch,
            partition.replicas,
            self.sessions[broker].broker_epoch,
            tuple(b for b in partition.replicas if self._live(b)),
            min_isr=self.min_isr,
            settings=self._changes,
            unclean=self.unclean,
        )
