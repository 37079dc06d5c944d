"""One partition's log: a volatile file that is read and written, and a durable one that holds what was fsynced."""

from __future__ import annotations

import os
import shutil
from array import array
from bisect import bisect_right
from contextlib import ExitStack
from errno import EIO
from pathlib import Path

from nodes.core.log import Batch
from nodes.core.recovery import StoredBatch
from nodes.formats.durable_files import sync_directory, write_all
from nodes.formats.record_batch import Records, place
from nodes.formats.segment import SEGMENT, scan
from nodes.process.storage.written_at import WRITTEN_AT, WrittenAt

_CHUNK = 1 << 20
"""Bytes copied at a time."""


class LogFile:
    """The log files of one partition. The durable one is always a prefix of the volatile one.

    :meth:`load` comes first, to find out what is there; then :meth:`keep_first`, to cut what recovery dropped.

    Attributes:
        size: bytes of the volatile file, up to the last sound batch.
        synced: how many of them the durable file has.
    """

    def __init__(self, volatile: Path, durable: Path) -> None:
        """Open both files, making what is missing; a missing volatile one becomes a copy of the durable one.

        Args:
            volatile: the partition's directory in the volatile one.
            durable: its directory in the data directory.

        Raises:
            OSError: a file cannot be made or opened.
        """
        _make_durable(durable)
        _make_volatile(volatile, durable)
        with ExitStack() as opened:
            self._fd = os.open(volatile / SEGMENT, os.O_RDWR)
            opened.callback(os.close, self._fd)
            self._durable_fd = os.open(durable / SEGMENT, os.O_RDWR)
            opened.callback(os.close, self._durable_fd)
            self._written_at = WrittenAt(volatile / WRITTEN_AT)
            opened.callback(self._written_at.close)
            self._open_files = opened.pop_all()
        self.size = os.fstat(self._fd).st_size
        self.synced = min(os.fstat(self._durable_fd).st_size, self.size)
        self._end_offsets = array("q")
        self._end_positions = array("q")

    def load(self) -> list[StoredBatch]:
        """What the volatile file holds, in order.

        A batch that is torn or damaged is the last, and has no values; what follows it is not looked at.

        Raises:
            OSError: the file cannot be read.
        """
        del self._end_offsets[:], self._end_positions[:]
        size = os.fstat(self._fd).st_size
        self.size = 0
        stored = []
        for found in scan(lambda position, size: os.pread(self._fd, size, position), size):
            header = found.header
            if header is None or not found.sound:
                offset, epoch = (header.base_offset, header.leader_epoch) if header else (-1, -1)
                stored.append(StoredBatch(Batch(offset, epoch, ()), sound=False))
                break
            records = Records.lying_in(self, found.position, header)
            batch = Batch(header.base_offset, header.leader_epoch, records)
            stored.append(StoredBatch(batch))
            self._note(batch, found.end)
        return stored

    def append(self, batch: Batch) -> bytes:
        """Write a batch at the end of the volatile file. Its values are read back from there from now on.

        Returns:
            The batch as it was written, with its base offset and leader epoch.

        Raises:
            TypeError: the batch's values are not :class:`Records`.
            OSError: it could not be written; the file is as it was before.
        """
        records = batch.values
        if not isinstance(records, Records):
            raise TypeError("A log file takes record batches only: wrap what build(values) gives in Records.")
        raw = place(records.raw(), batch.base, batch.epoch)
        position = self.size
        end = position + len(raw)
        try:
            if os.pwrite(self._fd, raw, position) < len(raw):
                write_all(self._fd, raw, position)
            self._written_at.note(end)
        except OSError:
            os.ftruncate(self._fd, position)
            raise
        self._note(batch, end)
        records.stored_at(self, position)
        return raw

    def _note(self, batch: Batch, end: int) -> None:
        """The batch lies in the file, up to this position."""
        self._end_offsets.append(batch.end)
        self._end_positions.append(end)
        self.size = end

    def read(self, position: int, size: int) -> bytes:
        """Bytes of the volatile file.

        Raises:
            OSError: the log was cut before their end, or the file closed.
        """
        if position + size <= self.size:
            found = os.pread(self._fd, size, position)
            if len(found) == size:
                return found
        raise OSError(EIO, f"the log ends before position {position + size}")

    def truncate(self, offset: int) -> None:
        """Cut both files to end at an offset; a batch that straddles it goes whole.

        Raises:
            OSError: a file could not be cut.
        """
        keep = bisect_right(self._end_offsets, offset)
        if keep < len(self._end_offsets):
            self.keep_first(keep)

    def keep_first(self, count: int) -> None:
        """Cut both files behind so many batches, or behind the last sound one if there are no more.

        The durable file goes first, so that it is a prefix of the other whenever the process ends.

        Raises:
            OSError: a file could not be cut.
        """
        del self._end_offsets[count:], self._end_positions[count:]
        end = self._end_positions[-1] if self._end_positions else 0
        self.synced = min(self.synced, end)
        if os.fstat(self._durable_fd).st_size > self.synced:
            os.ftruncate(self._durable_fd, self.synced)
        self.size = end
        if os.fstat(self._fd).st_size > end:
            os.ftruncate(self._fd, end)

    def sync(self) -> None:
        """Copy what is new to the durable file, and fsync it.

        Raises:
            OSError: nothing of it counts as synced.
        """
        at = self.synced
        try:
            while at < self.size:
                chunk = self.read(at, min(_CHUNK, self.size - at))
                write_all(self._durable_fd, chunk, at)
                at += len(chunk)
            os.fsync(self._durable_fd)
        except OSError:
            os.ftruncate(self._durable_fd, self.synced)
            raise
        self.synced = at

    def close(self) -> None:
        """Close the files; a second time does nothing. Nothing is synced."""
        self.size = 0
        self._open_files.close()


def _make_durable(directory: Path) -> None:
    """The durable file, empty if it is new."""
    if not (directory / SEGMENT).exists():
        directory.mkdir(parents=True, exist_ok=True)
        (directory / SEGMENT).touch()
        sync_directory(directory)
        sync_directory(directory.parent)


def _make_volatile(directory: Path, durable: Path) -> None:
    """The volatile file, whole or not at all: a half copy would be taken for the log at the next start."""
    if not (directory / SEGMENT).exists():
        directory.mkdir(parents=True, exist_ok=True)
        copy = directory / (SEGMENT + ".copy")
        shutil.copyfile(durable / SEGMENT, copy)
        copy.replace(directory / SEGMENT)
