"""One partition's log: a volatile file that is read and written, and a durable one that holds what was fsynced.

Both are named by the offset they begin with, as Kafka's segments are. A new beginning is made in the durable file last, or, where
that would leave it with more than the other has, first: whenever the process ends, :func:`make_alike` can tell what was to be.
"""

from __future__ import annotations

import os
import shutil
from array import array
from bisect import bisect_right
from contextlib import ExitStack
from errno import EIO
from pathlib import Path

from tidemark.nodes.core.log import Batch
from tidemark.nodes.core.recovery import StoredBatch
from tidemark.nodes.formats.durable_files import sync_directory, write_all
from tidemark.nodes.formats.record_batch import Records, place
from tidemark.nodes.formats.segment import SEGMENT, base_of, name_of, scan, segment_in
from tidemark.nodes.process.storage.written_at import WRITTEN_AT, WrittenAt

_CHUNK = 1 << 20
"""Bytes copied at a time."""


class LogFile:
    """The log files of one partition. The durable one is always a prefix of the volatile one.

    :meth:`load` comes first, to find out what is there; then :meth:`keep_first`, to cut what recovery dropped.

    Attributes:
        base: the offset that the files begin with, which is where an empty log ends.
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
        self._durable = _make_durable(durable)
        self._volatile = _make_volatile(volatile, self._durable)
        self._durable = make_alike(self._durable, self._volatile)
        self.base = base_of(self._volatile.name) or 0
        with ExitStack() as opened:
            self._fd = os.open(self._volatile, os.O_RDWR)
            opened.callback(os.close, self._fd)
            self._durable_fd = os.open(self._durable, os.O_RDWR)
            opened.callback(os.close, self._durable_fd)
            self._written_at = WrittenAt(volatile / WRITTEN_AT)
            opened.callback(self._written_at.close)
            self._open_files = opened.pop_all()
        self.size = os.fstat(self._fd).st_size
        self.synced = min(os.fstat(self._durable_fd).st_size, self.size)
        self._end_offsets = array("q")
        self._end_positions = array("q")
        self._dropped = 0
        """Bytes that were taken from the beginning: a batch is known by its position as if they were still there."""

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
            records = Records.lying_in(self, found.position + self._dropped, header)
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
        records.stored_at(self, position + self._dropped)
        return raw

    def _note(self, batch: Batch, end: int) -> None:
        """The batch lies in the file, up to this position."""
        self._end_offsets.append(batch.end)
        self._end_positions.append(end)
        self.size = end

    def read(self, position: int, size: int) -> bytes:
        """Bytes of the volatile file, as it would be if nothing had been dropped.

        Raises:
            OSError: the log was cut before their end, or its beginning dropped, or the file closed.
        """
        at = position - self._dropped
        if at >= 0 and at + size <= self.size:
            found = os.pread(self._fd, size, at)
            if len(found) == size:
                return found
        raise OSError(EIO, f"the log ends before position {position + size}, or begins after {position}")

    def truncate(self, offset: int) -> None:
        """Cut both files to end at an offset; a batch that straddles it goes whole. An empty log ends there.

        Raises:
            OSError: a file could not be cut.
        """
        keep = bisect_right(self._end_offsets, offset)
        if keep < len(self._end_offsets):
            self.keep_first(keep)
        if not keep and offset < self.base:
            self.begin_at(offset)

    def begin_at(self, offset: int) -> None:
        """Empty both files; they begin at an offset from now on.

        Raises:
            OSError: a file could not be emptied or renamed.
        """
        self._dropped += self.size
        self.keep_first(0)
        self._durable = self._durable.rename(self._durable.with_name(name_of(offset)))
        sync_directory(self._durable.parent)
        self._volatile = self._volatile.rename(self._volatile.with_name(name_of(offset)))
        self.base = offset

    def drop_before(self, offset: int) -> None:
        """Take the batches that end at or below an offset from the beginning of both files, which begin at the offset then.

        Raises:
            OSError: a file could not be written.
        """
        gone = bisect_right(self._end_offsets, offset)
        size = self._end_positions[gone - 1] if gone else 0
        self._volatile = _without_beginning(self._volatile, size, offset)
        _reopen(self._fd, self._volatile)
        self._durable = _without_beginning(self._durable, min(size, self.synced), offset)
        _reopen(self._durable_fd, self._durable)
        self._written_at.drop(size)
        del self._end_offsets[:gone], self._end_positions[:gone]
        for i, end in enumerate(self._end_positions):
            self._end_positions[i] = end - size
        self._dropped += size
        self.size -= size
        self.synced = max(self.synced - size, 0)
        self.base = offset

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
                chunk = self.read(at + self._dropped, min(_CHUNK, self.size - at))
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


def make_alike(durable: Path, volatile: Path) -> Path:
    """Let a durable file begin where the volatile one does; they do not if a process ended while it gave them a new beginning.

    Returns:
        The durable file, as it is called then.

    Raises:
        OSError: it could not be done.
    """
    base = base_of(volatile.name) or 0
    if durable.name == volatile.name:
        return durable
    size = 0
    content = durable.read_bytes()
    for found in scan(lambda position, size: content[position : position + size], len(content)):
        if found.header is None or found.header.base_offset >= base:
            break
        size = found.end
    return _without_beginning(durable, size, base)


def _make_durable(directory: Path) -> Path:
    """The durable file, empty if it is new."""
    segment = _only_newest(directory)
    if segment is None:
        directory.mkdir(parents=True, exist_ok=True)
        segment = directory / SEGMENT
        segment.touch()
        sync_directory(directory)
        sync_directory(directory.parent)
    return segment


def _make_volatile(directory: Path, durable: Path) -> Path:
    """The volatile file, whole or not at all: a half copy would be taken for the log at the next start."""
    segment = _only_newest(directory)
    if segment is None:
        directory.mkdir(parents=True, exist_ok=True)
        segment = directory / durable.name
        copy = segment.with_name(segment.name + ".copy")
        shutil.copyfile(durable, copy)
        copy.replace(segment)
    return segment


def _only_newest(directory: Path) -> Path | None:
    """The segment of a directory, if there is one; another was to be removed when its process ended."""
    segment = segment_in(directory)
    for path in directory.iterdir() if segment is not None else ():
        if base_of(path.name) is not None and path != segment:
            path.unlink()
    return segment


def _without_beginning(segment: Path, size: int, base: int) -> Path:
    """Put a file without its first bytes in a file's place, under the name of the offset that it begins with."""
    later = segment.with_name(name_of(base))
    if later == segment:
        return segment
    copy = later.with_name(later.name + ".copy")
    with segment.open("rb") as old, copy.open("wb") as new:
        old.seek(size)
        shutil.copyfileobj(old, new)
        new.flush()
        os.fsync(new.fileno())
    copy.replace(later)
    segment.unlink()
    sync_directory(segment.parent)
    return later


def _reopen(fd: int, path: Path) -> None:
    """Let a descriptor be of another file."""
    new = os.open(path, os.O_RDWR)
    try:
        os.dup2(new, fd, inheritable=False)
    finally:
        os.close(new)
