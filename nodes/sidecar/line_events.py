"""What a line of a Kafka broker's log says, as a typed event: what ``tidemark.nodes.sidecar.lines`` finds and the sidecar traces.

Offsets, log end offsets (LEO) and high watermarks (HW) are exclusive: the next offset. Partitions are strings such as ``t-0``,
nodes are integers; −1 is "undefined" (no leader, no epoch). The events of one life of a broker stand in the order of its lines.
In that order ``Loaded``, ``Appended``, ``Truncated`` and ``TruncatedFully`` give the end of each log at every moment, and with
``LogStart`` its start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Started:
    """The broker's process serves: it has read its logs, joined its cluster and said so."""


@dataclass(frozen=True, slots=True)
class Registered:
    """The controller accepted this incarnation of the broker (``broker_epoch`` −1: the line does not tell it)."""

    broker_epoch: int


@dataclass(frozen=True, slots=True)
class QuorumRole:
    """In a quorum of controllers this node entered an epoch, or another role in it."""

    epoch: int
    leads: bool


@dataclass(frozen=True, slots=True)
class MetadataCommitted:
    """The metadata log is committed up to ``hw``, as this node has heard."""

    hw: int


@dataclass(frozen=True, slots=True)
class VotersRead:
    """This node has read a record of voters in its metadata log, or in a snapshot up to ``offset``, and counts by them."""

    offset: int
    voters: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ShuttingDown:
    """An orderly shutdown began."""


@dataclass(frozen=True, slots=True)
class ShutDown:
    """An orderly shutdown came to its end: logs are flushed and closed."""


@dataclass(frozen=True, slots=True)
class Fatal:
    """The broker gives up; ``words`` are its own, on one line."""

    words: str


@dataclass(frozen=True, slots=True)
class LogDirOffline:
    """An I/O error made the broker take a log directory offline: it does nothing with what lies there until it starts again."""

    directory: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """A log was read from the disk, recovered if it had to be, and ends at ``leo``; also a new one (``leo`` 0).

    ``start`` is its log start.
    """

    partition: str
    leo: int
    start: int = 0


@dataclass(frozen=True, slots=True)
class Removed:
    """The broker has no replica of the partition any more: its log is out of the way, and is deleted sooner or later."""

    partition: str


@dataclass(frozen=True, slots=True)
class Appended:
    """Batches were written at the end of the log: offsets ``first`` to ``next`` − 1. One line may stand for several batches."""

    partition: str
    first: int
    next: int


@dataclass(frozen=True, slots=True)
class Truncated:
    """The log was cut and ends at ``to`` now.

    A batch that straddles ``to`` goes as a whole, but the broker counts its log's end as ``to`` and fetches from there: the next
    append may begin at ``to`` and leave a hole (up to KIP-101), or bring the whole batch again.
    ``reason`` is one of the words of ``tidemark.nodes.sidecar.lines.reasons``; ``leader_epoch`` −1: the lines do not tell it.
    """

    partition: str
    to: int
    reason: str
    leader_epoch: int = -1


@dataclass(frozen=True, slots=True)
class TruncatedFully:
    """The whole log was dropped and starts (and ends) at ``start`` now; ``reason`` as of a cut."""

    partition: str
    start: int
    reason: str = "fully"


@dataclass(frozen=True, slots=True)
class LogStart:
    """The log start moved up to ``start``: ``how`` is ``delete-records``, ``leader`` (it followed) or ``retention``."""

    partition: str
    start: int
    how: str


@dataclass(frozen=True, slots=True)
class HighWatermark:
    """This replica's own high watermark moved to ``hw`` (``is_leader`` None: the line does not tell the role)."""

    partition: str
    hw: int
    is_leader: bool | None = None


@dataclass(frozen=True, slots=True)
class Leads:
    """The replica became leader of a new leader epoch."""

    partition: str
    leader_epoch: int
    leo: int
    hw: int
    isr: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Follows:
    """The replica follows ``leader`` (−1: none) in a new leader epoch. ``leo`` and ``hw`` are −1 if the lines do not tell them."""

    partition: str
    leader_epoch: int
    leader: int
    leo: int
    hw: int


@dataclass(frozen=True, slots=True)
class Fetched:
    """A fetch from ``leader`` was answered without error or divergence, with ``records`` bytes or records (0: none)."""

    partition: str
    leader: int
    records: int


@dataclass(frozen=True, slots=True)
class IsrView:
    """The leader's view of the in-sync replicas changed (``maximal``: with a pending expansion)."""

    partition: str
    isr: tuple[int, ...]
    maximal: tuple[int, ...]
    partition_epoch: int = -1


@dataclass(frozen=True, slots=True)
class Asked:
    """The follower asks ``leader`` for the end of ``epoch``."""

    partition: str
    leader: int
    epoch: int


@dataclass(frozen=True, slots=True)
class Answered:
    """The follower heard where its log must end: ``epoch`` ends at ``end`` on the leader.

    Attributes:
        asked: the epoch the question was about, −1 if the lines do not tell it.
        offset: the fetch offset, if it was a fetch that was answered so (truncation on fetch); else None.
        epoch: the epoch answered, −1 if the leader does not know it (or is too old to say).
        end: its end offset, −1 likewise.
    """

    partition: str
    asked: int
    offset: int | None
    epoch: int
    end: int


@dataclass(frozen=True, slots=True)
class Refused:
    """A follower's step was refused or failed (fenced, out of order, out of range); ``words`` are the broker's, on one line."""

    partition: str
    words: str


Event: TypeAlias = (
    Started
    | Registered
    | ShuttingDown
    | ShutDown
    | Fatal
    | QuorumRole
    | MetadataCommitted
    | VotersRead
    | LogDirOffline
    | Loaded
    | Removed
    | Appended
    | Truncated
    | TruncatedFully
    | LogStart
    | HighWatermark
    | Leads
    | Follows
    | Fetched
    | IsrView
    | Asked
    | Answered
    | Refused
)
