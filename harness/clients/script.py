"""What a producer sends and how long it rests, drawn from its noise stream as the simulator's producers do, or as planned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from tidemark.nemesis.plan import WorkloadSpec

VALUES_PER_PRODUCER = 1_000_000
"""As in `tidemark.harness.simulator.workload.producer`."""
FOR_EVER_S = 86_400.0
"""Longer than any run: the rest of who has nothing left to send."""


class ProducerScript:
    """The batches of producer ``number``: its values are ``number * 1_000_000 + counter``."""

    def __init__(
        self,
        number: int,
        spec: WorkloadSpec,
        keys: Sequence[str],
        noise_seed: int,
        clock: Callable[[], int] = lambda: 0,
    ) -> None:
        """``keys`` are the partitions to choose from; the clock, µs since the run began, is asked if the sends are planned."""
        sends = sorted(spec.sends or (), key=lambda send: send.at_us, reverse=True)
        self._planned = None if spec.sends is None else [send for send in sends if send.producer == number]
        self._clock = clock
        self.process = f"p{number}"
        self._spec = spec
        self._keys = keys
        self._noise = Random(f"{noise_seed}/{self.process}")
        self._next_value = number * VALUES_PER_PRODUCER
        self._sent = 0

    def pause(self) -> float:
        """Seconds until the next batch."""
        if self._planned is not None:
            return max(self._planned[-1].at_us - self._clock(), 0) / 1e6 if self._planned else FOR_EVER_S
        burst = self._spec.burst
        if self._sent % burst:
            return 0.0
        return burst * self._spec.interval_us * (0.5 + self._noise.random()) / 1e6

    def batch(self) -> tuple[str, tuple[int, ...]]:
        """A partition and the next values."""
        if self._planned is not None:
            send = self._planned.pop()
            return self._keys[send.partition % len(self._keys)], self._values(send.records)
        self._sent += 1
        count = 1 + int(self._noise.random() * self._spec.batch)
        key = self._keys[int(self._noise.random() * len(self._keys))]
        return key, self._values(count)

    def _values(self, count: int) -> tuple[int, ...]:
        values = tuple(range(self._next_value, self._next_value + count))
        self._next_value += count
        return values


class ConsumerScript:
    """How long consumer ``number`` rests between polls."""

    def __init__(self, number: int, spec: WorkloadSpec, noise_seed: int) -> None:
        self.process = f"c{number}"
        self._poll_us = spec.poll_us
        self._noise = Random(f"{noise_seed}/{self.process}")

    def pause(self) -> float:
        """Seconds until the next poll."""
        return self._poll_us * (0.5 + self._noise.random()) / 1e6


def topic_and_partition(key: str) -> tuple[str, int]:
    """A key of the history is a topic and a partition of it.

    >>> topic_and_partition("t-0")
    ('t', 0)
    """
    topic, _, partition = key.rpartition("-")
    return topic, int(partition)
