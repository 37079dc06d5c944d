"""What a power loss leaves of a Kafka broker's logs: run this where a broker was killed, before it starts again.

``python3 -m tidemark.nodes.sidecar.power_loss --data DIR (--keep N | --seed S)``

Kafka does not flush what it appends (``log.flush.interval.messages`` and ``.ms`` are off), so after a power loss a log may end
anywhere behind what is provably flushed: the offset in ``recovery-point-offset-checkpoint`` (unless a log start took it along),
what the sidecar of a broker that is set to flush has noted (:mod:`tidemark.nodes.sidecar.synced_segments`), and the segments before
the last. The last segment is cut at a byte that is drawn from the seed, perhaps in the middle of a batch,
which Kafka's recovery drops. With ``--keep`` exactly the first N batches of each log stay; internal topics are left alone then.
Indexes of the cut segment and snapshots of producers beyond the cut are deleted: Kafka builds them again.

All other files were durable when Kafka wrote them. ``leader-epoch-checkpoint`` may name epochs beyond the cut; Kafka drops them
when it loads the log. A broker, which only observes KRaft's metadata log, does not flush its copy either; all of it stays, as it
may: what it lost it would fetch again. Nor does a future log (KIP-113) lose anything. After a clean shutdown (its mark is there)
everything is flushed, and nothing is lost.

Prints one line: ``{"t-0": {"batches": {"kept": 2, "lost": 1}, "records": {"kept": 2, "lost": 3}, "torn_bytes": 0, "flushed": 0}}``.
"""

from __future__ import annotations

import fcntl
import os
import sys
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from tidemark.nodes.admin.power_loss_command import PowerLossCommand, check_keep
from tidemark.nodes.formats.checkpoints import CLEAN_SHUTDOWN
from tidemark.nodes.formats.durable_files import sync_directory
from tidemark.nodes.formats.log_directories import log_directories
from tidemark.nodes.formats.message_set import scan, segment_files
from tidemark.nodes.formats.partition_files import (
    INDEXES,
    LOCK,
    SNAPSHOT,
    CheckpointFormatError,
    flushed_offsets,
    is_internal,
    partition_directories,
)
from tidemark.nodes.formats.segment import base_of
from tidemark.nodes.sidecar.synced_segments import synced_sizes


class BrokerRunsError(Exception):
    """The log directory is in use."""


@dataclass(slots=True)
class LosingSegment:
    """The last segment of one partition's log at the moment the power goes; those before it are flushed.

    Attributes:
        directory: the partition's.
        segment: the last, which is cut.
        before: how many batches the earlier segments have.
        start: the log's first offset.
        ends: position in the last segment behind each of its batches.
        nexts: the offset behind each.
        size: bytes of the last segment; those behind the last batch are torn already.
        flushed: position in the last segment up to which it is on disk for certain.
    """

    directory: Path
    segment: Path
    before: int
    start: int
    ends: list[int]
    nexts: list[int]
    size: int
    flushed: int

    @property
    def base(self) -> int:
        """The last segment's first offset."""
        return base_of(self.segment.name) or 0

    def draw(self, noise: Random) -> int:
        """A position to cut at."""
        return noise.randint(self.flushed, self.size)

    def position_of(self, keep: int) -> int:
        """Where to cut, so that so many batches stay.

        Raises:
            CannotKeepError: fewer are there, or more are flushed.
        """
        least = self.before + bisect_right(self.ends, self.flushed)
        most = self.before + len(self.ends)
        check_keep(self.directory.name, keep, safe=least, written=most, how_safe="flushed")
        kept = keep - self.before
        return self.ends[kept - 1] if kept else 0

    def cut(self, position: int) -> dict[str, Any]:
        """Cut the last segment there, and delete what Kafka must build again.

        Returns:
            What to print of it.

        Raises:
            OSError: it could not be done.
        """
        kept = bisect_right(self.ends, position)
        end = self.nexts[kept - 1] if kept else self.base
        fd = os.open(self.segment, os.O_RDWR)
        try:
            os.ftruncate(fd, position)
            os.fsync(fd)
        finally:
            os.close(fd)
        for path in self.directory.iterdir():
            snapshot = SNAPSHOT.fullmatch(path.name)
            if (path.suffix in INDEXES and path.stem == self.segment.stem) or (snapshot and int(snapshot[1]) > end):
                path.unlink()
        sync_directory(self.directory)
        return {
            "batches": {"kept": self.before + kept, "lost": len(self.ends) - kept},
            "records": {"kept": end - self.start, "lost": (self.nexts[-1] - end) if self.nexts else 0},
            "torn_bytes": position - (self.ends[kept - 1] if kept else 0),
            "flushed": self.flushed_until(),
        }

    def flushed_until(self) -> int:
        """The offset up to which the log is on disk for certain."""
        count = bisect_right(self.ends, self.flushed)
        return self.nexts[count - 1] if count else self.base


def log_before(
    directory: Path, recovery_point: int, synced: Mapping[Path, int], *, clean: bool
) -> LosingSegment | None:
    """Look at a partition's files; None if it has no segment.

    Args:
        directory: the partition's.
        recovery_point: the offset up to which Kafka has noted that the log is flushed.
        synced: segment → so many of its bytes are flushed.
        clean: whether all of it is flushed.

    Raises:
        OSError: they cannot be read.
    """
    segments = segment_files(directory)
    if not segments:
        return None
    *earlier, last = segments
    before = sum(len(_scan(path)[0]) for path in earlier)
    ends, nexts = _scan(last)
    size = last.stat().st_size
    flushed = max((end for end, offset in zip(ends, nexts, strict=True) if offset <= recovery_point), default=0)
    flushed = max(flushed, min(synced.get(last, 0), size))
    start = base_of(segments[0].name) or 0
    return LosingSegment(directory, last, before, start, ends, nexts, size, size if clean else flushed)


def _scan(segment: Path) -> tuple[list[int], list[int]]:
    """Position and offset behind each batch of a segment."""
    fd = os.open(segment, os.O_RDONLY)
    try:
        found = [(e.end, e.next) for e in scan(lambda at, size: os.pread(fd, size, at), os.fstat(fd).st_size)]
    finally:
        os.close(fd)
    return [end for end, _ in found], [offset for _, offset in found]


def lose_power(data: Path, *, keep: int | None = None, seed: int = 0) -> dict[str, dict[str, Any]]:
    """Do it to all logs, or to none. Each log draws from a stream of its own, so that it does not matter which others there are.

    Args:
        data: the broker's log directory, or the one above its two (:mod:`tidemark.nodes.formats.log_directories`).
        keep: batches that stay of each log; None to draw.
        seed: where draws come from.

    Returns:
        What to print.

    Raises:
        CannotKeepError: a log cannot keep so many; nothing was done.
        BrokerRunsError: the broker still runs; nothing was done.
        CheckpointFormatError: what is flushed cannot be read; nothing was done.
        OSError: a file could not be read or written.
    """
    directories = log_directories(data)
    with ExitStack() as locks:
        for one in directories:
            locks.enter_context(_locked(one))
        synced = synced_sizes(data)
        cuts: list[tuple[LosingSegment, int]] = []
        for one in directories:
            flushed, clean = flushed_offsets(one), (one / CLEAN_SHUTDOWN).exists()
            for directory in partition_directories(one):
                name = directory.name
                log = log_before(directory, flushed.get(name, 0), synced, clean=clean)
                if log is None or (keep is not None and is_internal(name)):
                    continue
                cuts.append((log, log.draw(Random(f"{seed} {name}")) if keep is None else log.position_of(keep)))
        return {log.directory.name: log.cut(position) for log, position in cuts}


@contextmanager
def _locked(data: Path) -> Iterator[None]:
    """Hold the lock that a broker holds while it runs (a POSIX record lock, as Java takes it)."""
    fd = os.open(data / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BrokerRunsError(f"A broker still runs with {data}: kill it before its power is lost.") from None
        yield
    finally:
        os.close(fd)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 0, or 2 with a sentence on standard error."""
    command = PowerLossCommand("the broker's log directory", " (log.dirs)")
    return command.run(
        arguments,
        lambda given: lose_power(given.data, keep=given.keep, seed=given.seed or 0),
        BrokerRunsError,
        CheckpointFormatError,
    )


if __name__ == "__main__":
    sys.exit(main())
