"""Cluster settings that every replica and the controller know; times in microseconds."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

MS = 1_000


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

    def scaled(self, factor: float) -> Settings:
        """The same with every time multiplied, for a world that is slower than the simulator."""
        names = [f.name for f in fields(self) if f.name.endswith("_us")]
        times: dict[str, Any] = {name: int(getattr(self, name) * factor) for name in names}
        return replace(self, **times)
