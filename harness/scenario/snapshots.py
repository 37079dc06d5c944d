"""What a target shows at one moment: of a replica, and of a batch that was sent."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from tidemark.harness.scenario.records import LogRecord


class Glance(NamedTuple):
    """What can be seen of a replica at little cost, which is all that ``until`` needs; of a broker that is down, its disk.

    `role` is ``leader``, ``follower``, ``no leader``, ``no replica`` or ``down``; `epoch` is −1 if unknown; `leader` is whom a
    follower follows, else −1; `start` is the log start.
    """

    role: str
    epoch: int
    leader: int
    leo: int
    hw: int
    hw_on_disk: int
    start: int = 0
    start_on_disk: int = 0


class ReplicaSnapshot(NamedTuple):
    """One replica at one moment; of a broker that is down, what lies on its disk.

    `role` and `epoch` as in `Glance`; `log` is what lies from `start` on.
    """

    broker: int
    role: str
    epoch: int
    log: tuple[LogRecord, ...]
    leo: int
    hw: int
    cache: tuple[tuple[int, int], ...]
    paused: bool = False
    start: int = 0


class Sent(Protocol):
    """A batch that was sent once."""

    @property
    def state(self) -> str:
        """``sent``, ``acked``, or the error's name."""
