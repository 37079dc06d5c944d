"""Everything one broker keeps: its partitions' logs and epochs, high watermarks, and the clean-shutdown mark."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from tidemark.nodes.core.actions import (
    Action,
    Append,
    BeginAt,
    Delete,
    DropBefore,
    MarkCleanShutdown,
    Sync,
    Truncate,
    WriteEpochs,
    WriteHighWatermarks,
    WriteLogStarts,
    WriteVote,
)
from tidemark.nodes.core.log import Batch
from tidemark.nodes.core.recovery import DiskImage, PartitionImage, Recovered
from tidemark.nodes.formats import checkpoints
from tidemark.nodes.formats.durable_files import sync_directory
from tidemark.nodes.process.storage import directory_lock
from tidemark.nodes.process.storage.log_file import LogFile

_PARTITION = re.compile(r"[a-zA-Z0-9._-]{1,249}-[0-9]+")
"""Kafka's rule for a topic, a dash, and the partition's number."""
_DELETED = "-delete"
"""What a directory's name ends with while it is being deleted (Kafka: ``t-0.UUID-delete``)."""


def is_partition(name: str) -> bool:
    """Whether a directory of this name is a partition's."""
    return _PARTITION.fullmatch(name) is not None


class LogDirectory:
    """The files of one broker; one process at a time has them. Use :meth:`load` and :meth:`after_recovery` first."""

    def __init__(self, data: Path, volatile: Path) -> None:
        """Make the two directories if they are missing.

        Args:
            data: holds what survives a power loss.
            volatile: holds the logs as they are written.

        Raises:
            DirectoryInUseError: another process has them.
            OSError: they cannot be made.
        """
        data.mkdir(parents=True, exist_ok=True)
        volatile.mkdir(parents=True, exist_ok=True)
        self.data = data
        self.volatile = volatile
        self._lock: int | None = directory_lock.lock(data)
        self._files: dict[str, LogFile] = {}
        self._epochs: dict[str, tuple[tuple[int, int], ...]] = {}

    def load(self) -> DiskImage:
        """What there is. The clean-shutdown mark is deleted before anything else is looked at.

        A mark that cannot be read, or stands beside a log with a broken batch, is not believed: the logs will be recovered.

        Raises:
            CheckpointError: a checkpoint is malformed.
            OSError: a file cannot be read.
        """
        try:
            clean = checkpoints.read_clean_shutdown(self.data)
        except checkpoints.CheckpointError:
            clean = None
        checkpoints.delete_clean_shutdown(self.data)
        self._finish_deletions()
        partitions = {}
        votes = {}
        for name in sorted(partition_names(self.data) | partition_names(self.volatile)):
            self._files[name] = log = LogFile(self.volatile / name, self.data / name)
            self._epochs[name] = checkpoints.read_epochs(self.data / name)
            partitions[name] = found = PartitionImage(log.load(), self._epochs[name], log.base)
            vote = checkpoints.read_vote(self.data / name)
            if vote is not None:
                votes[name] = vote
            if found.batches and not found.batches[-1].sound:
                clean = None
        high_watermarks, log_starts = (
            checkpoints.read_offsets(self.data / checkpoints.HIGH_WATERMARKS),
            checkpoints.read_offsets(self.data / checkpoints.LOG_STARTS),
        )
        return DiskImage(partitions, high_watermarks, clean, log_starts, votes)

    def after_recovery(self, recovered: Recovered) -> None:
        """Cut the logs to what recovery kept, and write back the epochs that it changed.

        Raises:
            OSError: a file cannot be cut or written.
        """
        for name, found in recovered.partitions.items():
            log = self.file(name)
            log.keep_first(len(found.batches))
            if not found.batches and log.base != found.leo:
                log.begin_at(found.leo)
            if found.epochs != self._epochs.get(name, ()):
                self._write_epochs(name, found.epochs)

    def file(self, partition: str) -> LogFile:
        """A partition's log, made when it is first asked for.

        Raises:
            ValueError: no directory can have the partition's name.
            OSError: the files cannot be made.
        """
        found = self._files.get(partition)
        if found is None:
            if not is_partition(partition):
                raise ValueError(
                    f"{partition!r} is no partition: name it TOPIC-NUMBER, the topic of a-z, A-Z, 0-9, '.', '_', '-'."
                )
            found = self._files[partition] = LogFile(self.volatile / partition, self.data / partition)
            found.load()
        return found

    def append(self, partition: str, batch: Batch) -> bytes:
        """Carry out an ``Append``.

        Returns:
            The batch as it was written, for the trace.

        Raises:
            OSError: it was not written.
        """
        return self.file(partition).append(batch)

    def delete(self, partition: str) -> None:
        """Delete a partition's directories; one that is not there is fine.

        Each gets another name first, so that a process that dies meanwhile leaves all of it or nothing (as Kafka's does).

        Raises:
            OSError: something of it is left.
        """
        self._epochs.pop(partition, None)
        log = self._files.pop(partition, None)
        if log is not None:
            log.close()
        for directory in (self.volatile, self.data):
            if (directory / partition).exists():
                (directory / partition).rename(directory / f"{partition}{_DELETED}")
                sync_directory(directory)
        self._finish_deletions()

    def _finish_deletions(self) -> None:
        for directory in (self.volatile, self.data):
            for left in directory.glob(f"*{_DELETED}"):
                shutil.rmtree(left)

    def carry_out(self, action: Action) -> None:
        """Do what the core asks of its disk.

        Raises:
            TypeError: it is nothing for a disk.
            OSError: it could not be done; the file is as it was before.
        """
        match action:
            case Append(partition, batch):
                self.append(partition, batch)
            case Truncate(partition, offset):
                self.file(partition).truncate(offset)
            case BeginAt(partition, offset):
                self.file(partition).begin_at(offset)
            case DropBefore(partition, offset):
                self.file(partition).drop_before(offset)
            case Delete(partition):
                self.delete(partition)
            case Sync(partition):
                self.file(partition).sync()
            case WriteEpochs(partition, entries):
                self._write_epochs(partition, entries)
            case WriteHighWatermarks(offsets):
                checkpoints.write_offsets(self.data / checkpoints.HIGH_WATERMARKS, offsets)
            case WriteLogStarts(offsets):
                checkpoints.write_offsets(self.data / checkpoints.LOG_STARTS, offsets)
            case WriteVote(partition, generation, candidate):
                self.file(partition)
                checkpoints.write_vote(self.data / partition, generation, candidate)
            case MarkCleanShutdown(broker_epoch):
                checkpoints.write_clean_shutdown(self.data, broker_epoch)
            case _:
                raise TypeError(f"a disk cannot carry out {action!r}")

    def close(self) -> None:
        """Close all files and give up the lock; a second time does nothing. Nothing is synced."""
        for log in self._files.values():
            log.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _write_epochs(self, partition: str, entries: tuple[tuple[int, int], ...]) -> None:
        self.file(partition)
        checkpoints.write_epochs(self.data / partition, entries)
        self._epochs[partition] = entries


def partition_names(directory: Path) -> set[str]:
    """The partitions that have a directory here.

    Raises:
        OSError: the directory cannot be read.
    """
    return {entry.name for entry in directory.iterdir() if is_partition(entry.name) and entry.is_dir()}
