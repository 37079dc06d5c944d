"""Processes that work in step: each hands something to every other, and gets something of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from typing import TypeVar

T = TypeVar("T")


class Mesh:
    """The links of one process to all others.

    Args:
        rank: which of the processes this is, from 0. links: to each other's, by its rank.
    """

    def __init__(self, rank: int = 0, links: Mapping[int, Connection] | None = None) -> None:
        """One process has no links."""
        self.rank = rank
        self._links = links or {}
        self.size = len(self._links) + 1

    def exchange(self, parcels: Sequence[T]) -> list[T]:
        """Hand each process its parcel; all processes have to. Returns what each had for this one; its own is the same object.

        In each turn every process deals with one other, or none, and who has the lower rank speaks first: so nobody waits in vain.

        Raises:
            OSError, EOFError: a process has ended.
        """
        received = list(parcels)
        for turn in range(self.size):
            other = (turn - self.rank) % self.size
            if other == self.rank:
                continue
            link = self._links[other]
            if self.rank < other:
                link.send(parcels[other])
                received[other] = link.recv()
            else:
                received[other] = link.recv()
                link.send(parcels[other])
        return received

    def all(self, own: T) -> list[T]:
        """What each process has to say to all, by rank."""
        return self.exchange([own] * self.size)
