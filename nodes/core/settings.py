"""Cluster settings that every replica and the controller know; times in microseconds."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

MS = 1_000
LONGEST_US = 86_400_000_000
"""A day: so long may a setting be, a step of a script, or the time until a run's faults end."""


class ClusterSpecError(ValueError):
    """The cluster cannot exist; the message says why in one sentence."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Kafka's settings under Kafka's names where it has them, with times compressed about tenfold by default.

    A run of ten virtual seconds then meets as many checkpoints, session ends and ISR changes as minutes would.
    """

    min_isr: int = 2
    """``min.insync.replicas``"""
    unclean_election: bool = False
    """``unclean.leader.election.enable``"""
    tick_us: int = 100 * MS
    """How often a node looks at what is due (Kafka's purgatory and schedulers)."""
    fetch_wait_us: int = 250 * MS
    """``replica.fetch.wait.max.ms`` (Kafka: 500 ms)"""
    request_timeout_us: int = 500 * MS
    """After this a follower or leader sends its request to leader or controller again (Kafka: 30 s)."""
    lag_time_us: int = 1_500 * MS
    """``replica.lag.time.max.ms`` (Kafka: 30 s)"""
    heartbeat_us: int = 200 * MS
    """``broker.heartbeat.interval.ms`` (Kafka: 2 s)"""
    session_us: int = 1_000 * MS
    """``broker.session.timeout.ms`` (Kafka: 9 s; ``zookeeper.session.timeout.ms``: 18 s)"""
    hw_checkpoint_us: int = 1_000 * MS
    """``replica.high.watermark.checkpoint.interval.ms`` (Kafka: 5 s)"""
    log_start_checkpoint_us: int = 2_000 * MS
    """``log.flush.start.offset.checkpoint.interval.ms`` (Kafka: 60 s)"""
    produce_timeout_us: int = 1_500 * MS
    """``request.timeout.ms`` of the producers (Kafka: 30 s)"""
    max_fetch_batches: int = 50
    """Stands for ``replica.fetch.max.bytes``."""

    @property
    def longest_wait_us(self) -> int:
        """Nothing waits longer for anything: a session and a lag end one after the other, and what was lost is asked for again."""
        return (
            self.session_us + self.lag_time_us + self.produce_timeout_us + self.request_timeout_us + self.fetch_wait_us
        )

    def refuse_impossible(self) -> None:
        """Refuse what Kafka refuses (KafkaConfig.validateValues), and what no cluster could work with.

        Raises:
            ClusterSpecError: says which settings, and why.
        """
        for name in (f.name for f in fields(self) if f.name.endswith("_us")):
            if getattr(self, name) < MS:
                raise ClusterSpecError(f"{name} must be at least {MS} (1 ms), and is {getattr(self, name)}")
            if getattr(self, name) > LONGEST_US:
                raise ClusterSpecError(f"{name} must be at most {LONGEST_US} (a day), and is {getattr(self, name)}")
        if self.max_fetch_batches < 1:
            raise ClusterSpecError(f"max_fetch_batches must be at least 1, and is {self.max_fetch_batches}")
        if self.fetch_wait_us > self.lag_time_us:
            raise ClusterSpecError(
                f"fetch_wait_us {self.fetch_wait_us} must not be above lag_time_us {self.lag_time_us}: Kafka refuses a "
                "replica.fetch.wait.max.ms above replica.lag.time.max.ms, under which idle followers leave the ISR"
            )
        if self.request_timeout_us < self.fetch_wait_us + self.tick_us:
            raise ClusterSpecError(
                f"request_timeout_us {self.request_timeout_us} must be at least fetch_wait_us + tick_us = "
                f"{self.fetch_wait_us + self.tick_us}: a follower would give up each fetch before its leader answers (Kafka "
                "refuses a replica.socket.timeout.ms below replica.fetch.wait.max.ms)"
            )
        if self.heartbeat_us >= self.session_us:
            raise ClusterSpecError(
                f"heartbeat_us {self.heartbeat_us} must be below session_us {self.session_us}: a broker would be fenced between "
                "two heartbeats"
            )

    def scaled(self, factor: float) -> Settings:
        """The same with every time multiplied, for a world that is slower than the simulator."""
        names = [f.name for f in fields(self) if f.name.endswith("_us")]
        times: dict[str, Any] = {name: int(getattr(self, name) * factor) for name in names}
        return replace(self, **times)
