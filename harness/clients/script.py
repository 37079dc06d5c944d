"""What a producer sends and how long it rests, drawn from its noise stream as the simulator's producers do."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from nemesis.plan import WorkloadSpec

VALUES_PER_PRODUCER = 1_000_000
"""As in `harness.simulator.workload.producer`."""


class ProducerScript:
    """The batches of producer ``number``: its values are ``number * 1_000_000 + counter``."""

    def __init__(self, number: int, spec: WorkloadSpec, keys: Sequence[str], noise_seed: int) -> None:
        """``keys`` are the partitions to choose from."""
        self.process = f"p{number}"
        self._spec = spec
        self._keys = keys
        self._noise = Random(f"{noise_seed}/{self.process}")
        self._next_value = number * VALUES_PER_PRODUCER

    def pause(self) -> float:
        """Seconds until the next batch."""
        return self._spec.interval_us * (0.5 + self._noise.random()) / 1e6

    def batch(self) -> tuple[str, tuple[int, ...]]:
        """A partition and the next values."""
        count = 1 + int(self._noise.random() * self._spec.batch)
        key = self._keys[int(self._noise.random() * len(self._keys))]
        values = tuple(range(self._next_value, self._next_value + count))
        self._next_value += count
        return key, values


class ConsumerScript:
    """How long consumer ``number`` rests between polls."""

    def __init__(self, number: int, spec: WorkloadSpec, noise_seed: int) -> None:
        """Begin its noise stream."""
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
