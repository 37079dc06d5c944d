"""The controller's decisions as events of docs/history.md, and the state that they come to.

ZooKeeper's and KRaft's logs say what a partition or a broker *is* after each change. What was decided follows from the state
before.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

from tidemark.nodes.core.messages import CONTROLLER

Event: TypeAlias = tuple[Any, ...]
"""``(event, partition, *fields)``: one of :data:`tidemark.nodes.admin.trace_file.DECIDED`, with the fields of docs/history.md."""

PREFERRED, FORCED, UNCLEAN = "preferred", "forced", "unclean"
INITIAL, ONLINE, OFFLINE, RESUMED, LAST_KNOWN = "initial", "online", "offline", "resumed", "last-known"
REASSIGNING, REASSIGNED = "reassigning", "reassigned"


class Decision(NamedTuple):
    """One decision.

    Attributes:
        wall_us: the wall clock of the controller's machine when it was logged, µs since 1970, in steps of 1 ms.
        event: see :data:`Event`.
    """

    wall_us: int
    event: Event


@dataclass(slots=True)
class PartitionFacts:
    """A partition's registration as the controller holds it; see ``tidemark.nodes.core.partition_state.PartitionState``.

    Attributes:
        adding, removing: of the replicas, while they are reassigned.
        beginning: a reassignment has begun, and no leader epoch since.
        last_known: the one replica that KIP-966 may still elect when ISR and ELR are empty.
    """

    replicas: tuple[int, ...] = ()
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    beginning: bool = False
    leader: int = -1
    last_leader: int = -1
    leader_epoch: int = -1
    partition_epoch: int = -1
    isr: tuple[int, ...] = ()
    elr: tuple[int, ...] = ()
    last_known: tuple[int, ...] = ()


@dataclass(slots=True)
class BrokerFacts:
    """A broker's registration; ``incarnation`` counts the registrations that the log tells of."""

    live: bool = False
    incarnation: int = 0
    broker_epoch: int = -1


class Decisions:
    """Collects what changes, as events in order.

    Args:
        partitions: those that count, all others are left out; None: all.

    Attributes:
        partitions, brokers: the state after all that was told.
    """

    def __init__(self, partitions: Collection[str] | None = None) -> None:
        self._wanted = partitions
        self._asked_for: dict[str, tuple[str, int]] = {}
        self._found: list[Decision] = []
        self._now_us = 0
        self._elr: bool | None = None
        """Whether ELR is on, as far as that was told."""
        self._unclean: bool | None = None
        """The same of unclean elections."""
        self._voters: list[tuple[int, str]] = []
        self.partitions: dict[str, PartitionFacts] = {}
        self.brokers: dict[int, BrokerFacts] = {}

    def at(self, wall_us: int) -> None:
        """What is told from here on was logged then."""
        self._now_us = wall_us

    def take(self) -> list[Decision]:
        """What was decided since the last call, in order."""
        found, self._found = self._found, []
        return found

    def expect(self, partition: str, how: str, leader: int) -> None:
        """An operator asked for this election: if this broker becomes leader, that is how."""
        self._asked_for[partition] = how, leader

    def forget(self, partition: str) -> None:
        """That election was refused, or is over."""
        self._asked_for.pop(partition, None)

    # Told by the logs

    def assigned(
        self, partition: str, replicas: Sequence[int], adding: Sequence[int] = (), removing: Sequence[int] = ()
    ) -> None:
        """The partition's replicas, in the order of preference, and who of them comes and goes. Another order is no event."""
        if not self._counts(partition):
            return
        facts = self.partitions.setdefault(partition, PartitionFacts())
        before = facts.replicas, facts.adding, facts.removing
        facts.replicas, facts.adding, facts.removing = tuple(replicas), tuple(adding), tuple(removing)
        same = set(before[0]) == set(replicas) and before[1:] == (facts.adding, facts.removing)
        if before[0] and not same:
            facts.beginning = bool(adding or removing)
            fields = (facts.replicas, facts.adding, facts.removing)
            self._found.append(Decision(self._now_us, ("reassign", partition, *fields)))

    def min_isr_set(self, min_isr: int) -> None:
        """An operator has set min ISR of the topic."""
        self._found.append(Decision(self._now_us, ("min-isr", "", min_isr)))

    def elr_is(self, *, on: bool) -> None:
        """ELR is on or off. It is an event if it was otherwise before, but for what holds when the first partition is made."""
        if self.partitions and on is not self._elr:
            self._found.append(Decision(self._now_us, ("elr-switch", "", on)))
        self._elr = on

    def unclean_is(self, *, allowed: bool) -> None:
        """An operator has set whether the topic may have unclean elections."""
        if allowed is not self._unclean:
            self._found.append(Decision(self._now_us, ("unclean-switch", "", allowed)))
        self._unclean = allowed

    def voters_are(self, offset: int, voters: Sequence[tuple[int, str]]) -> None:
        """The record at this offset of the metadata log says who votes: nodes, each with the id of its directory."""
        if sorted(voters) != self._voters:
            self._voters = sorted(voters)
            self._found.append(Decision(self._now_us, ("voters", "", offset, tuple(self._voters))))

    def dropped(self, partition: str) -> None:
        """The partition was deleted."""
        self.partitions.pop(partition, None)

    def changed(
        self,
        partition: str,
        *,
        leader: int,
        leader_epoch: int,
        partition_epoch: int,
        isr: Sequence[int],
        elr: Sequence[int] = (),
        last_known: Sequence[int] = (),
        ends: bool = False,
    ) -> None:
        """The partition's state is this now; `ends`: and with the same record a reassignment came to its end."""
        if not self._counts(partition):
            return
        facts = self.partitions.setdefault(partition, PartitionFacts())
        before = replace(facts)
        facts.leader, facts.leader_epoch, facts.partition_epoch = leader, leader_epoch, partition_epoch
        facts.isr, facts.elr, facts.last_known = tuple(isr), tuple(elr), tuple(last_known)
        if leader >= 0:
            facts.last_leader = leader
        if leader_epoch != before.leader_epoch:
            how, clean = self._how(partition, before, facts, ends=ends)
            facts.beginning = False
            fields = (leader, leader_epoch, facts.isr, facts.elr, how, clean, partition_epoch)
            self._found.append(Decision(self._now_us, ("elect", partition, *fields)))
        elif facts.isr != before.isr or facts.elr != before.elr:
            self._found.append(Decision(self._now_us, ("isr-change", partition, facts.isr, facts.elr, partition_epoch)))

    def registered(self, broker: int, broker_epoch: int, *, live: bool = True) -> None:
        """A broker's new incarnation was accepted.

        No log says whether it had shut down cleanly. It proved that where it is still an eligible leader: an unclean shutdown would
        just have ended that (KIP-966), while ELR is on.
        """
        if broker == CONTROLLER:
            return
        facts = self.brokers.setdefault(broker, BrokerFacts())
        if facts.broker_epoch == broker_epoch:  # the same once more, as in a snapshot
            return
        if facts.live:
            self.fenced(broker)
        facts.live, facts.broker_epoch = live, broker_epoch
        facts.incarnation += 1
        clean = self._elr is not False and any(broker in partition.elr for partition in self.partitions.values())
        self._found.append(Decision(self._now_us, ("register", "", broker, broker_epoch, clean)))

    def fenced(self, broker: int) -> None:
        """A broker's session ended."""
        facts = self.brokers.get(broker)
        if facts is not None and facts.live:
            facts.live = False
            self._found.append(Decision(self._now_us, ("fence", "", broker)))

    def unfenced(self, broker: int) -> None:
        """A registered broker takes part (again)."""
        facts = self.brokers.get(broker)
        if facts is not None and not facts.live:
            facts.live = True
            self._found.append(Decision(self._now_us, ("unfence", "", broker)))

    def standing(self) -> list[Event]:
        """The events that would bring the brokers to where they are."""
        found: list[Event] = []
        for broker, facts in sorted(self.brokers.items()):
            found.append(("register", "", broker, facts.broker_epoch, False))
            if facts.live:
                found.append(("unfence", "", broker))
        return found

    def _counts(self, partition: str) -> bool:
        return self._wanted is None or partition in self._wanted

    def _how(self, partition: str, before: PartitionFacts, facts: PartitionFacts, *, ends: bool) -> tuple[str, bool]:
        """How a leader came to be, and whether it came from ISR or ELR."""
        leader = facts.leader
        if before.leader_epoch < 0:
            return (INITIAL, True) if leader >= 0 else (OFFLINE, True)
        if leader < 0:
            return OFFLINE, True
        if ends and leader in facts.isr:
            return REASSIGNED, True
        if leader == before.leader:
            return self._how_it_stays(before, facts), True
        eligible = leader in before.isr or leader in before.elr
        how, wanted = self._asked_for.get(partition, ("", -1))
        if how and wanted == leader:
            del self._asked_for[partition]
            return (FORCED if how == UNCLEAN else how, True) if eligible else (UNCLEAN, False)
        if eligible:
            return REASSIGNED if self._must_go(before.leader, facts) else ONLINE, True
        # Who was eligible may have come back without proof: the record that ends its eligibility elects, too. An election that the
        # configuration wants, below min ISR, leaves the ELR as it is (PartitionChangeBuilder, Kafka 4.1).
        if not before.isr and not facts.elr and before.last_known == (leader,):
            return LAST_KNOWN, False
        return UNCLEAN, False

    @staticmethod
    def _how_it_stays(before: PartitionFacts, facts: PartitionFacts) -> str:
        """Why a leader got a new epoch. With ZooKeeper one begins with a reassignment, and another when all are in sync."""
        if facts.isr != before.isr or not (facts.adding or facts.removing):
            return RESUMED
        if set(facts.replicas) - set(facts.removing) <= set(facts.isr):
            return REASSIGNED
        return REASSIGNING if before.beginning else RESUMED

    def _must_go(self, leader: int, facts: PartitionFacts) -> bool:
        """Whether one that is there gives way because it is to be no replica."""
        return leader in facts.removing and leader in self.brokers and self.brokers[leader].live
