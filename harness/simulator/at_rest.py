"""What the simulated world shows of a partition, for :mod:`tidemark.harness.runs.at_rest`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemark.checkers.history.trace_events import KIND, NODE, PARTITION, Follow, Lead, OutOfOrder
from tidemark.harness.runs.at_rest import PartitionView, ReplicaView, refusal

if TYPE_CHECKING:
    from tidemark.harness.simulator.simulation import Simulation


def view_of(simulation: Simulation, partition: str, *, with_reasons: bool = True) -> PartitionView:
    """The partition now; ``with_reasons`` looks for what was refused, which takes longer than all the rest."""
    state = simulation.state_of(partition)
    replicas = {broker: _replica(simulation, broker, partition) for broker in state.replicas}
    leader = replicas.get(state.leader)
    end = leader.log.leo if leader is not None else -1
    brokers = {
        b: None
        if r is None
        else _view(
            r,
            _end(simulation, r, state.leader_epoch, end),
            _isr(simulation, r, state.isr),
            _refused(simulation, b, r, end) if with_reasons else "",
        )
        for b, r in replicas.items()
    }
    target = state.target() if state.is_reassigned else ()
    return PartitionView(state.leader, state.leader_epoch, state.isr, state.elr, state.replicas, brokers, target)


def _replica(simulation: Simulation, broker: int, partition: str) -> Any:  # noqa: ANN401 (of any family)
    machine = simulation.broker(broker)
    return machine.replicas.get(partition) if machine is not None else None


def _end(simulation: Simulation, replica: Any, epoch: int, leaders_end: int) -> int:  # noqa: ANN401 (of any family)
    """Where a log ends. Without a controller, a follower may have entries behind its leader's log end, until one takes their
    place.
    """
    leo: int = replica.log.leo
    may_be_longer = not simulation.family.has_isr and replica.following and replica.leader_epoch == epoch
    return min(leo, leaders_end) if may_be_longer else leo


def _isr(simulation: Simulation, replica: Any, known: tuple[int, ...]) -> tuple[int, ...]:  # noqa: ANN401 (of any family)
    """The ISR that a leader goes by; without one, it is that of the partition."""
    if not replica.leading:
        return ()
    own: tuple[int, ...] = replica.leading.isr if simulation.family.has_isr else known
    return own


def _view(replica: Any, leo: int, isr: tuple[int, ...], refused: str) -> ReplicaView:  # noqa: ANN401 (of any family)
    role = "leader" if replica.leading else "follower" if replica.following else "no leader"
    return ReplicaView(role, replica.leader_epoch, leo, replica.hw, isr, refused)


def _refused(simulation: Simulation, broker: int, replica: Any, end: int) -> str:  # noqa: ANN401 (of any family)
    """Looked for only where the log is not the leader's: it is a search through the end of the trace."""
    leo = replica.log.leo
    if leo == end:
        return ""
    for event in reversed(simulation.trace):
        if event[NODE] == broker and event[PARTITION] == replica.name:
            if event[KIND] == OutOfOrder.kind and OutOfOrder(event).leo == leo:
                return refusal(OutOfOrder(event).base_offset)
            if event[KIND] in (Follow.kind, Lead.kind):
                return ""
    return ""
