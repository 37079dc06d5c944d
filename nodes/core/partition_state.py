"""What the controller holds about one partition, and who may lead it (docs/protocol.md, "Controller")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidemark.nodes.core.variant import Variant


@dataclass(slots=True)
class PartitionState:
    """A partition's registration.

    Attributes:
        replicas: assignment order; the first is the preferred leader. While they are reassigned, old and new ones.
        adding, removing: those of them that come and go with the reassignment under way, if there is one (KIP-455).
        leader: −1 while there is none. last_leader: the last one there was (KIP-966's last known leader), as far as that is known.
        isr: committed ISR. elr: eligible leader replicas, () unless the variant keeps them.
        leader_epoch, partition_epoch: raised by a leader change, and by any change.
    """

    name: str
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    elr: tuple[int, ...] = ()
    leader: int = -1
    last_leader: int = -1
    leader_epoch: int = -1
    partition_epoch: int = -1
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()

    @property
    def is_reassigned(self) -> bool:
        """Whether a reassignment is under way."""
        return bool(self.adding or self.removing)

    def target(self) -> tuple[int, ...]:
        """The replicas there will be when it has come to its end."""
        return tuple(b for b in self.replicas if b not in self.removing)

    def candidates(self) -> tuple[int, ...]:
        """Replicas that may lead without loss: the ISR, or the ELR when the ISR is empty; in assignment order."""
        eligible = self.isr or self.elr
        return tuple(b for b in self.replicas if b in eligible)

    def with_isr(self, isr: tuple[int, ...], min_isr: int, variant: Variant, *, elr: bool) -> None:
        """Commit an ISR; KIP-966: members that leave while it is below min ISR stay eligible, also if they are replicas no more."""
        if not elr or len(isr) >= min_isr:
            self.elr = ()
        else:
            before = {*self.elr, *self.isr}
            strangers = () if variant.elr_of_replicas else sorted(before.difference(self.replicas, isr))
            self.elr = (*(b for b in self.replicas if b in before and b not in isr), *strangers)
        self.isr = isr
