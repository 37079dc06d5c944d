"""What a producer sends next, and when: drawn from its noise stream, or as the plan has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random

    from tidemark.nemesis.plan import WorkloadSpec
    from tidemark.nemesis.send import Send

REFRESH = 0.3
"""Share of sends after which the producer asks for fresh metadata (``metadata.max.age.ms``, compressed like all times)."""


class DrawnSends:
    """As busy as the workload says, and otherwise by chance."""

    def __init__(self, spec: WorkloadSpec, noise: Random) -> None:
        self._spec = spec
        self._noise = noise
        self._sent = 0

    def pause(self, now: int) -> int | None:
        """µs until the next send; none within a burst."""
        burst = self._spec.burst
        if self._sent % burst:
            return 0
        return int(burst * self._spec.interval_us * (0.5 + self._noise.random()))

    def batch(self, partitions: int) -> tuple[int, int]:
        """Number of a partition, and of records."""
        self._sent += 1
        count = 1 + int(self._noise.random() * self._spec.batch)
        return int(self._noise.random() * partitions), count

    def refreshes(self) -> bool:
        """Whether to ask for fresh metadata now."""
        return self._noise.random() < REFRESH


class PlannedSends:
    """Those of one producer, in order of time."""

    def __init__(self, number: int, sends: Iterable[Send]) -> None:
        """Take what producer ``number`` sends."""
        self._left = sorted((send for send in sends if send.producer == number), key=lambda s: s.at_us, reverse=True)

    def pause(self, now: int) -> int | None:
        """µs until the next send, 0 if it is overdue, None if there is no other."""
        return max(self._left[-1].at_us - now, 0) if self._left else None

    def batch(self, partitions: int) -> tuple[int, int]:
        """Number of a partition, and of records."""
        send = self._left.pop()
        return send.partition % partitions, send.records

    def refreshes(self) -> bool:
        """Never: metadata is asked for when a send went wrong."""
        return False
