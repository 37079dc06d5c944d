"""Min ISR as a history has it: the meta line says what it was at first, and the nemesis what an operator set it to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tidemark.checkers.history.trace_events import Reassign

if TYPE_CHECKING:
    from tidemark.checkers.history.history import History
    from tidemark.checkers.history.turning_points import TurningPoint

KIND, ORDERED = "min-isr", "min_isr"
"""The kind of fault, and the entry of its detail: the number that was ordered."""


def fewest_replicas(points: Sequence[TurningPoint]) -> dict[str, int]:
    """Partition → the fewest replicas that a reassignment was to leave it, if there was one. Min ISR is no more than that."""
    fewest: dict[str, int] = {}
    for _, event in points:
        if event[2] == Reassign.kind:
            order = Reassign(event)
            left = len(order.replicas) - len(order.removing)
            fewest[order.partition] = min(left, fewest.get(order.partition, left))
    return fewest


class MinIsr(NamedTuple):
    """The least and the most that min ISR ever was. An order counts whether or not it was carried out."""

    least: int
    most: int

    @classmethod
    def of(cls, history: History) -> MinIsr:
        """Of one run.

        >>> from tidemark.checkers import History
        >>> MinIsr.of(History.of(min_isr=2, nemesis=[(5, "strike", 0, "min-isr", {"min_isr": 1})]))
        MinIsr(least=1, most=2)
        """
        first = int(history.meta.get("min_isr", 1))
        told = [op[4].get(ORDERED) for op in history.nemesis if op[3] == KIND and isinstance(op[4], Mapping)]
        known = [first, *(order for order in told if type(order) is int)]
        return cls(min(known), max(known))


@dataclass(frozen=True, slots=True)
class Enough:
    """How many replicas are enough for a record: the least that min ISR ever was, and no more than a partition ever had.

    A value of its own and no method of the run: a run and those who ask it would hold each other.
    """

    min_isr: int
    fewest: Mapping[str, int]

    def __call__(self, partition: str) -> int:
        """The number, of one partition."""
        return min(self.min_isr, self.fewest.get(partition, self.min_isr))
