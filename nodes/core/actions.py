"""What a machine asks its driver to do. Actions are carried out in order.

A plain tuple ``(time, node, event, partition, *fields)`` among the actions is a trace record (see docs/history.md); it is bare
because it is by far the most frequent action.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from tidemark.nodes.core.events import TimerFired
from tidemark.nodes.core.log import Batch

Trace: TypeAlias = tuple[object, ...]


@dataclass(slots=True)
class Send:
    """Send ``message`` to node ``to``."""

    to: int
    message: object


@dataclass(slots=True)
class SetTimer:
    """Deliver ``event`` after ``delay_us``."""

    delay_us: int
    event: TimerFired


@dataclass(slots=True)
class Append:
    """Write a batch at the end of the partition's log file (page cache, not disk), and trace it as ``append``."""

    partition: str
    batch: Batch


@dataclass(slots=True)
class Journal:
    """The same to a file that is no replica's log, such as a bookie's journal; it is not traced."""

    partition: str
    batch: Batch


@dataclass(slots=True)
class Truncate:
    """Cut the partition's log file to end at ``offset``, where a batch ends."""

    partition: str
    offset: int


@dataclass(slots=True)
class BeginAt:
    """Empty the partition's log file; it begins at ``offset`` from now on."""

    partition: str
    offset: int


@dataclass(slots=True)
class DropBefore:
    """Take the batches that end at or below ``offset`` from the beginning of the partition's log file."""

    partition: str
    offset: int


@dataclass(slots=True)
class Sync:
    """fsync the partition's log file."""

    partition: str


@dataclass(slots=True)
class Delete:
    """Delete the partition's directory: its log and its ``leader-epoch-checkpoint``."""

    partition: str


@dataclass(slots=True)
class WriteEpochs:
    """Replace ``leader-epoch-checkpoint`` (temporary file, fsync, rename)."""

    partition: str
    entries: tuple[tuple[int, int], ...]


@dataclass(slots=True)
class WriteHighWatermarks:
    """Replace ``replication-offset-checkpoint`` (temporary file, fsync, rename)."""

    offsets: dict[str, int]


@dataclass(slots=True)
class WriteLogStarts:
    """Replace ``log-start-offset-checkpoint`` (the same way); a log that begins where its file does is not in it."""

    offsets: dict[str, int]


@dataclass(slots=True)
class WriteVote:
    """Write the newest generation known, and whom this server voted for in it (−1: nobody); durable when it returns."""

    partition: str
    generation: int
    candidate: int


@dataclass(slots=True)
class MarkCleanShutdown:
    """Write the clean-shutdown mark, with the broker epoch that KIP-966 wants in it; if ``synced``, durable when it returns."""

    broker_epoch: int
    synced: bool = True


@dataclass(slots=True)
class Halt:
    """End the process: ``clean`` or ``fatal``."""

    how: str


Action: TypeAlias = (
    Trace
    | Send
    | SetTimer
    | Append
    | Journal
    | Truncate
    | BeginAt
    | DropBefore
    | Sync
    | Delete
    | WriteEpochs
    | WriteHighWatermarks
    | WriteLogStarts
    | WriteVote
    | MarkCleanShutdown
    | Halt
)
