"""How far a search goes: so many brokers, records, epochs, faults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tidemark.nodes.core.settings import Settings

Leadership = Literal["at-once", "late", "lost"]
MOST_BROKERS = 5


class BoundsError(ValueError):
    """Nothing could be searched within these bounds; the message says why."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What may happen in a run, and how often.

    Attributes:
        brokers: all of them are replicas of the one partition.
        records: how many are appended altogether, one in a batch.
        epochs: leader epochs 0 to ``epochs - 1``.
        crashes: process crashes; what was written stays. lapses: sessions that end while the process goes on.
        unclean: whether any live broker may be elected.
        leadership: ``at-once``: the controller's word is everywhere before anything else happens; ``late``: each broker hears all
            of it, in order, some time; ``lost``: a broker may never hear of it, or only of what came later (the public
            specifications; KRaft's metadata log).
        late_answers: whether a leader may hear later, and not at once, that the controller has taken its ISR.
        min_isr: ``min.insync.replicas``. fetch_size: batches in one fetch.
    """

    brokers: int = 3
    records: int = 2
    epochs: int = 3
    crashes: int = 0
    lapses: int = 0
    unclean: bool = False
    leadership: Leadership = "lost"
    late_answers: bool = False
    min_isr: int = 1
    fetch_size: int = 1

    def __post_init__(self) -> None:
        """Refuse what is no search."""
        if not 1 <= self.brokers <= MOST_BROKERS:
            raise BoundsError(f"brokers must be 1 to {MOST_BROKERS}, not {self.brokers}")
        if self.epochs < 1 or self.records < 0 or self.crashes < 0 or self.lapses < 0 or self.fetch_size < 1:
            raise BoundsError("epochs and the fetch size must be at least 1; records, crashes and lapses at least 0")
        if not 1 <= self.min_isr <= self.brokers:
            raise BoundsError(f"min ISR must be 1 to {self.brokers}, the number of brokers, not {self.min_isr}")

    def nodes(self) -> tuple[int, ...]:
        """The brokers' ids: 1, 2, 3 …"""
        return tuple(range(1, self.brokers + 1))

    def settings(self) -> Settings:
        """The core's settings within these bounds."""
        return Settings(min_isr=self.min_isr, unclean_election=self.unclean, max_fetch_batches=self.fetch_size)

    def in_words(self) -> str:
        """As a phrase: ``3 brokers, 2 records, 3 epochs, leadership lost``."""
        words = [f"{self.brokers} brokers", f"{self.records} records", f"{self.epochs} epochs"]
        words += [f"{self.crashes} crashes"] if self.crashes else []
        words += [f"{self.lapses} lapses of a session"] if self.lapses else []
        words += ["unclean elections"] if self.unclean else []
        words += [
            {"at-once": "leadership at once", "late": "leadership late", "lost": "leadership late or lost"}[
                self.leadership
            ]
        ]
        words += ["late ISR answers"] if self.late_answers else []
        words += [f"min ISR {self.min_isr}"] if self.min_isr > 1 else []
        words += [f"{self.fetch_size} batches a fetch"] if self.fetch_size > 1 else []
        return ", ".join(words)
