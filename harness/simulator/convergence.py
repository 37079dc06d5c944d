"""After healing: has everything come to rest, and if not, what is it waiting for?"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.simulator.world import World
    from nodes.replica import Replica


def restored(world: World, partition: str) -> bool:
    """Whether there is a leader that knows it, all replicas follow in its epoch, and the ISR is full again."""
    return not (_roles(world, partition) or _isr(world, partition))


def waiting_for(world: World, partition: str) -> str:
    """What keeps a partition from rest, as a sentence; empty when roles, replication, HW and ISR have all settled."""
    return _roles(world, partition) or _replication(world, partition) or _isr(world, partition)


def _replica(world: World, broker: int, partition: str) -> Replica | None:
    machine = world.broker(broker)
    return machine.replicas.get(partition) if machine is not None else None


def _roles(world: World, partition: str) -> str:
    state = world.controller.partitions[partition]
    if state.leader < 0:
        return f"no leader: ISR {list(state.isr)}, ELR {list(state.elr)}"
    for broker in state.replicas:
        replica = _replica(world, broker, partition)
        if replica is None:
            return f"broker {broker} is not running"
        if replica.leader_epoch != state.leader_epoch:
            return f"broker {broker} is in leader epoch {replica.leader_epoch}, not {state.leader_epoch}"
    return ""


def _replication(world: World, partition: str) -> str:
    """Log ends first: a high watermark that does not move is often their consequence."""
    state = world.controller.partitions[partition]
    running = {b: r for b in state.replicas if (r := _replica(world, b, partition)) is not None}
    end = running[state.leader].log.leo
    for broker, replica in running.items():
        if replica.log.leo != end:
            stuck = _refuses(world, broker, partition, replica)
            return f"broker {broker} has log end {replica.log.leo}, the leader {end}{stuck}"
    for broker, replica in running.items():
        if replica.hw != end:
            return f"broker {broker} has high watermark {replica.hw}, the leader's log ends at {end}"
    return ""


def _isr(world: World, partition: str) -> str:
    state = world.controller.partitions[partition]
    leader = _replica(world, state.leader, partition)
    known = leader.leading.isr if leader is not None and leader.leading is not None else ()
    if set(state.isr) != set(state.replicas) or set(known) != set(state.isr):
        return f"ISR is {list(state.isr)} (leader: {list(known)}), replicas are {list(state.replicas)}"
    return ""


def _refuses(world: World, broker: int, partition: str, replica: Replica) -> str:
    for entry in reversed(world.trace[-400:]):
        if entry[1:4] == (broker, "out-of-order", partition) and entry[5] == replica.log.leo:
            return f": it refuses the leader's batch at offset {entry[4]} as out of order"
    return ""
