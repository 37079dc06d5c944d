"""What a producer sends in its transactions, and which of them it aborts on purpose, drawn from its noise stream."""

from __future__ import annotations

from typing import NamedTuple

from tidemark.harness.clients.script import ProducerScript

ABORTED = 0.2
"""This share of the transactions is aborted on purpose."""
PAUSES = 4
"""So many pauses between the sends of a transaction are as long as one between two transactions."""


class IntendedTransaction(NamedTuple):
    """A transaction as it is meant: its sends in order, each a partition and its values; and whether it is aborted in the end."""

    sends: tuple[tuple[str, tuple[int, ...]], ...]
    aborts: bool


class TransactionScript(ProducerScript):
    """The transactions of a producer; its batches and rests are those of one that sends without."""

    def transaction(self) -> IntendedTransaction:
        """The next one: 1 to `WorkloadSpec.transactional` sends."""
        count = 1 + int(self._noise.random() * self._spec.transactional)
        return IntendedTransaction(tuple(self.batch() for _ in range(count)), self._noise.random() < ABORTED)

    def breath(self) -> float:
        """Seconds until the next send of the same transaction."""
        return self._spec.interval_us * (0.5 + self._noise.random()) / PAUSES / 1e6
