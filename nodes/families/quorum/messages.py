"""Messages between leader and followers (seed: ``ReplicationRequest``, ``ReplicationResponse``, the question on rejoining)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from tidemark.nodes.core.log import Batch


@dataclass(slots=True)
class ReplicationRequest:
    """Entries from ``base`` on, perhaps none (the heartbeat), and the high-water mark.

    A follower that has not said where it is yet is only told who leads: ``base`` is −1 then.
    """

    api_key: ClassVar[int] = 1010
    source: int
    partition: str
    generation: int
    base: int
    batches: list[Batch]
    hw: int
    correlation: int


@dataclass(slots=True)
class ReplicationResponse:
    """``replicated``: how much of the log the follower says it has; ``next``: where the leader is to go on."""

    api_key: ClassVar[int] = 1011
    source: int
    partition: str
    generation: int
    replicated: int
    next: int
    correlation: int


@dataclass(slots=True)
class HighWaterMarkRequest:
    """A server that rejoins asks for the current high-water mark."""

    api_key: ClassVar[int] = 1012
    source: int
    partition: str
    generation: int
    correlation: int


@dataclass(slots=True)
class HighWaterMarkResponse:
    """The leader's high-water mark."""

    api_key: ClassVar[int] = 1013
    source: int
    partition: str
    generation: int
    hw: int
    correlation: int
