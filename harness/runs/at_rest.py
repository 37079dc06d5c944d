"""After healing: has everything come to rest, and if not, what is it waiting for?

One definition for every world: a world gives a :class:`PartitionView` of each partition, and what follows is the same for all.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple


class ReplicaView(NamedTuple):
    """A running replica at one moment.

    Attributes:
        role: ``leader``, ``follower``, or ``no leader`` if it knows none.
        leo, hw: exclusive.
        isr: the ISR as it knows it while it leads, else empty.
        refused: what it refused when its leader last sent something that does not fit its log, as a sentence; else empty.
    """

    role: str
    leader_epoch: int
    leo: int
    hw: int
    isr: tuple[int, ...] = ()
    refused: str = ""


class PartitionView(NamedTuple):
    """A partition at one moment: the controller's state of it, and its replicas.

    Attributes:
        leader: −1 while there is none.
        target: the replicas that a reassignment under way is to leave; () while there is none.
        brokers: replica → how it stands, None while its process does not run (or does not know the partition).
        damaged: those whose files a fault has damaged.
    """

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    elr: tuple[int, ...]
    replicas: tuple[int, ...]
    brokers: Mapping[int, ReplicaView | None]
    target: tuple[int, ...] = ()
    damaged: tuple[int, ...] = ()

    def without(self, nodes: Collection[int]) -> PartitionView:
        """As if these were no replicas; whoever leads stays."""
        gone = {node for node in nodes if node != self.leader}
        if not gone.intersection(self.replicas):
            return self

        def kept(among: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(node for node in among if node not in gone)

        brokers = {
            node: replica and replica._replace(isr=kept(replica.isr))
            for node, replica in self.brokers.items()
            if node not in gone
        }
        return self._replace(
            isr=kept(self.isr),
            elr=kept(self.elr),
            replicas=kept(self.replicas),
            target=kept(self.target),
            brokers=brokers,
        )

    def owing(self) -> PartitionView:
        """Without those that do not run, though everything was healed, since their files were damaged: they may refuse to."""
        return self.without([node for node in self.damaged if self.brokers.get(node) is None])


def refusal(base: int) -> str:
    """How a replica's refusal of the batch at offset ``base`` is told."""
    return f"it refuses the leader's batch at offset {base} as out of order"


def restored(view: PartitionView) -> bool:
    """Whether there is a leader that knows it, all replicas follow in its epoch, and the ISR is full again."""
    return not (_roles(view) or _isr(view))


def waiting_for(view: PartitionView) -> str:
    """What keeps a partition from rest, as a sentence; empty when roles, replication, HW and ISR have all settled."""
    return _roles(view) or _replication(view) or _isr(view)


def _roles(view: PartitionView) -> str:
    if view.leader < 0:
        gone = [broker for broker in view.isr if broker not in view.replicas]
        told = f", but the replicas are {list(view.replicas)}" if gone else ""
        return f"no leader: ISR {list(view.isr)}, ELR {list(view.elr)}{told}"
    for broker in view.replicas:
        replica = view.brokers[broker]
        if replica is None:
            return f"broker {broker} is not running"
        if replica.leader_epoch != view.leader_epoch:
            return f"broker {broker} is in leader epoch {replica.leader_epoch}, not {view.leader_epoch}"
    return ""


def _replication(view: PartitionView) -> str:
    """Log ends first: a high watermark that does not move is often their consequence."""
    running = {b: r for b in view.replicas if (r := view.brokers[b]) is not None}
    end = running[view.leader].leo
    for broker, replica in running.items():
        if replica.leo != end:
            why = f": {replica.refused}" if replica.refused else ""
            return f"broker {broker} has log end {replica.leo}, the leader {end}{why}"
    for broker, replica in running.items():
        if replica.hw != end:
            return f"broker {broker} has high watermark {replica.hw}, the leader's log ends at {end}"
    return ""


def _isr(view: PartitionView) -> str:
    leader = view.brokers[view.leader]
    known = leader.isr if leader is not None else ()
    if set(view.isr) != set(view.replicas) or set(known) != set(view.isr):
        return f"ISR is {list(view.isr)} (leader: {list(known)}), replicas are {list(view.replicas)}"
    if view.target:
        return f"replicas {list(view.replicas)} are still being reassigned to {list(view.target)}"
    return ""
