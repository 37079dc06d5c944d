"""Events that are not messages."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Started:
    """The process has started; what recovery found was given to the constructor."""


@dataclass(slots=True)
class TimerFired:
    """A timer ran out. ``generation`` tells a cancelled timer from the current one."""

    name: str
    generation: int = 0


@dataclass(slots=True)
class RetentionDue:
    """This broker's own retention finds that the oldest ``batches`` of a partition's log file are to go (Kafka: segments)."""

    partition: str
    batches: int


@dataclass(slots=True)
class ShutdownRequested:
    """SIGTERM: hand over leadership, flush, write the clean-shutdown mark, stop."""


@dataclass(slots=True)
class ControllerFailed:
    """The controller is gone. What it has written lasts: in ZooKeeper, or in the metadata log."""


@dataclass(slots=True)
class ControllerElected:
    """Another controller takes over, with what is written."""
