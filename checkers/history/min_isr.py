"""Min ISR as a history has it: the meta line says what it was at first, and the nemesis what an operator set it to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tidemark.checkers.history.history import History

KIND, ORDERED = "min-isr", "min_isr"
"""The kind of fault, and the entry of its detail: the number that was ordered."""


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
