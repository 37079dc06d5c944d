"""What a leader does with a batch that an idempotent producer sends again (KIP-98): it knows it, if its log holds it.

Of each producer it looks at the newest batch alone: one that has a batch under way begins no other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemark.harness.simulator.workload.producer import VALUES_PER_PRODUCER
from tidemark.nodes.core.messages import ALL, ProduceRequest

if TYPE_CHECKING:
    from tidemark.nodes.core.actions import Action
    from tidemark.nodes.families.family import Machine


class KnowsRepeats:
    """Stands before a machine, and takes to its leaders what they have."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def step(self, now_us: int, event: Any) -> list[Action]:  # noqa: ANN401 (as a machine's)
        """As the machine, but for a batch that its log holds already."""
        machine = self._machine
        if type(event) is ProduceRequest and event.acks != "0":
            replica = machine.replicas.get(event.partition)
            leader = replica and (replica if replica.leading is True else replica.leading)
            found = leader and not self._isr_is_too_small(leader, event) and _found(replica, event)
            if found:
                machine.out.clear()
                leader.on_duplicate(now_us, event, *found)
                return machine.out
        return machine.step(now_us, event)

    def _isr_is_too_small(self, leader: Any, m: ProduceRequest) -> bool:  # noqa: ANN401 (of any family)
        """That is said first, as in Kafka."""
        isr = getattr(leader, "isr", None)
        if isr is None or m.acks != ALL:
            return False
        least: int = self._machine.min_isr  # type: ignore[attr-defined]
        return len(isr) < min(least, len(leader.remotes) + 1)


def _found(replica: Any, m: ProduceRequest) -> tuple[int, int] | None:  # noqa: ANN401 (of any family)
    """Where the batch lies, from its first offset to the one behind its last."""
    producer = m.values[0] // VALUES_PER_PRODUCER
    for batch in reversed(replica.log.batches):
        if batch.values and batch.values[0] // VALUES_PER_PRODUCER == producer:
            return (batch.base, batch.end) if batch.values[0] == m.values[0] else None
    return None
