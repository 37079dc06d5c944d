"""What Kafka calls the files of a log directory, and what they promise of the disk.

``recovery-point-offset-checkpoint`` says up to which offset each log is flushed; Kafka writes it once a minute, at a clean shutdown
and after a truncation. A segment is flushed as soon as the next one is begun. ``leader-epoch-checkpoint``,
``replication-offset-checkpoint``, ``log-start-offset-checkpoint`` and ``meta.properties`` are written to a temporary file, flushed
and renamed, so they are durable.
"""

from __future__ import annotations

import re
from pathlib import Path

from tidemark.nodes.formats.checkpoints import LOG_STARTS
from tidemark.nodes.formats.segment import base_of

RECOVERY_POINTS = "recovery-point-offset-checkpoint"
LOCK = ".lock"
METADATA_LOG = "__cluster_metadata-0"
METADATA_SNAPSHOT = re.compile(r"(\d{20})-(\d{10})\.checkpoint")
"""A snapshot of that log: end offset, and leader epoch of the record before it."""
NEEDED_INDEXES = (".index", ".timeindex")
"""A segment without one of these is recovered."""

INDEXES = (*NEEDED_INDEXES, ".txnindex")
SNAPSHOT = re.compile(r"([0-9]{20})\.snapshot")
"""Of the producers' state, by the offset it was taken at."""

_PARTITION = re.compile(r"(.+)-([0-9]+)")
_OFFSET = re.compile(r"(\S+) ([0-9]+) (-?[0-9]+)")
_EPOCH = re.compile(r"([0-9]+) (-?[0-9]+)")


class CheckpointFormatError(ValueError):
    """A checkpoint file that is not what it should be."""


def partition_directories(data: Path) -> list[Path]:
    """The directories of partitions, by name; those that are being deleted or moved, and KRaft's metadata log, are left out.

    Raises:
        OSError: the log directory cannot be read.
    """
    return sorted(
        path for path in data.iterdir() if is_partition(path.name) and path.is_dir() and path.name != METADATA_LOG
    )


def is_partition(name: str) -> bool:
    """Whether a directory of this name is a replica's log, and not one that is being deleted or moved, or is a stray one."""
    return _PARTITION.fullmatch(name) is not None


def is_internal(partition: str) -> bool:
    """Whether a partition belongs to Kafka itself, such as ``__consumer_offsets-0``."""
    return partition.startswith("__")


def read_offsets(text: str, name: str) -> dict[str, int]:
    """A checkpoint of offsets: partition, such as ``t-0``, → offset. Empty text is an empty checkpoint, as Kafka first makes it.

    Args:
        text: of the file.
        name: of the file, for errors.

    Raises:
        CheckpointFormatError: it is malformed.
    """
    return {f"{topic}-{int(number)}": int(offset) for topic, number, offset in _entries(text, name, _OFFSET)}


def read_epochs(text: str, name: str) -> tuple[tuple[int, int], ...]:
    """A partition's ``leader-epoch-checkpoint``, as (epoch, start offset); else as :func:`read_offsets`.

    Raises:
        CheckpointFormatError: it is malformed.
    """
    return tuple((int(epoch), int(offset)) for epoch, offset in _entries(text, name, _EPOCH))


def _entries(text: str, name: str, entry: re.Pattern[str]) -> list[tuple[str, ...]]:
    """The fields of each line of a checkpoint, behind its version and the number of its entries."""
    if not text:
        return []
    version, _, rest = text.partition("\n")
    count, *lines = rest.splitlines() or [""]
    found = [match.groups() for line in lines if (match := entry.fullmatch(line))]
    if version != "0" or count != str(len(lines)) or len(found) != len(lines):
        raise CheckpointFormatError(
            f"{name} is not a checkpoint of version 0: restore it, or delete the broker's data."
        )
    return found


def log_start_of(directory: Path, checkpointed: int) -> int:
    """Where a partition's log begins: by its checkpoint, or with its first segment if that is later; 0 while there are no files."""
    names = [path.name for path in directory.iterdir()] if directory.is_dir() else []
    return max(min((base for name in names if (base := base_of(name)) is not None), default=0), checkpointed)


def flushed_offsets(data: Path) -> dict[str, int]:
    """Partition → the offset up to which its log is certainly flushed, as far as Kafka has noted it.

    That is its recovery point, unless a log start has taken it along, which flushes nothing (``Log.updateLogStartOffset``).

    Raises:
        CheckpointFormatError: a checkpoint is malformed.
        OSError: it cannot be read.
    """
    starts = _offsets(data / LOG_STARTS)
    return {name: offset for name, offset in _offsets(data / RECOVERY_POINTS).items() if offset > starts.get(name, 0)}


def _offsets(path: Path) -> dict[str, int]:
    return read_offsets(path.read_text(encoding="ascii"), str(path)) if path.exists() else {}
