"""Damage to a node's files as a plain value: what, how much, and what settles the rest."""

from __future__ import annotations

from typing import NamedTuple

from tidemark.nodes.core.damage import WHICH


class Damage(NamedTuple):
    """What a fault does to the files of a node whose process it has killed.

    Attributes:
        how: ``flip-bits`` or ``cut-tail`` (:mod:`tidemark.nodes.core.damage`).
        amount: bits in each file, or thousandths of each file.
        pick, at_us: the fault's.
    """

    how: str
    amount: int
    pick: int
    at_us: int

    @property
    def which(self) -> str:
        """Which of the files: ``all``, ``half`` or ``one``."""
        return WHICH[self.pick % len(WHICH)]

    def seed(self, noise_seed: int) -> str:
        """What draws files and places: the same of the same fault in the same plan, whatever other faults that has."""
        return f"{noise_seed}/damage/{self.how}/{self.at_us}/{self.pick}/{self.amount}"
