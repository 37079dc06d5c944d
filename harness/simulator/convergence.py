"""After healing: has everything come to rest, and if not, what is it waiting for?"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.simulator.world import World
    from nodes.replica import Replica


def waiting_for(world: World, partition: str) -> str:
    """What keeps a partition from rest, as a sentence; empty when replication, HW, ISR and roles have all settled."""
    state = world.controller.partitions[partition]
    if state.leader < 0:
        return f"no leader: ISR {list(state.isr)}, ELR {list(state.elr)}"
    replicas: dict[int, Replica] = {}
    for broker in state.replicas:
        machine = world.broker(broker)
        if machine is None or partition not in machine.replicas:
            return f"broker {broker} is not running"
        replicas[broker] = machine.replicas[partition]
    leader = replicas[state.leader]
    if leader.leading is None or leader.leader_epoch != state.leader_epoch:
        return f"broker {state.leader} does not know that it leads epoch {state.leader_epoch}"
    for broker, replica in replicas.items():
        if replica.leader_epoch != state.leader_epoch:
            return f"broker {broker} is in leader epoch {replica.leader_epoch}, not {state.leader_epoch}"
        if replica.log.leo != leader.log.leo:
            stuck = _refuses(world, broker, partition, replica)
            return f"broker {broker} has log end {replica.log.leo}, the leader {leader.log.leo}{stuck}"
        if replica.hw != leader.log.leo:
            return f"broker {broker} has high watermark {replica.hw}, the leader's log ends at {leader.log.leo}"
    if set(state.isr) != set(state.replicas) or set(leader.leading.isr) != set(state.isr):
        return f"ISR is {list(state.isr)} (leader: {list(leader.leading.isr)}), replicas are {list(state.replicas)}"
    return ""


def _refuses(world: World, broker: int, partition: str, replica: Replica) -> str:
    for entry in reversed(world.trace[-400:]):
        if entry[1:4] == (broker, "out-of-order", partition) and entry[5] == replica.log.leo:
            return f": it refuses the leader's batch at offset {entry[4]} as out of order"
    return ""
