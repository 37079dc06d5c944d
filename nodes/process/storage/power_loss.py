"""What a power loss leaves: run this where a node process was killed, before it starts again.

``python3 -m tidemark.nodes.process.storage.power_loss --data DIR --volatile DIR (--keep N | --seed S)``

What stays is drawn from the seed (:mod:`tidemark.nodes.core.power_loss`), log by log in the order of their names. With ``--keep``
exactly the first N batches of each log stay. Then the volatile logs are gone.

Prints one line: ``{"t-0": {"batches": {"kept": 2, "lost": 1}, "records": {"kept": 2, "lost": 3}, "torn_bytes": 0}}``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from random import Random

from tidemark.nodes.admin.power_loss_command import PowerLossCommand, check_keep
from tidemark.nodes.core.power_loss import WRITEBACK_US, draw_survivors
from tidemark.nodes.formats.durable_files import sync_directory, write_all
from tidemark.nodes.formats.segment import SEGMENT, scan, segment_in
from tidemark.nodes.process.storage import directory_lock
from tidemark.nodes.process.storage.log_directory import partition_names
from tidemark.nodes.process.storage.log_file import make_alike
from tidemark.nodes.process.storage.written_at import WRITTEN_AT, now_ms, old_until

_WRITEBACK_MS = WRITEBACK_US // 1_000


@dataclass(slots=True)
class LosingLog:
    """One partition's log at the moment the power goes.

    Attributes:
        segment: its name.
        text: the sound batches of the volatile file.
        ends: the position behind each of them.
        records: how many records each has.
        on_disk: bytes of the durable file; a part of a batch may be the last, if a sync was cut short.
        synced: how many of the batches are on disk for certain.
        old: how many were written long enough ago, or synced.
    """

    name: str
    durable: Path
    segment: str
    text: bytes
    ends: list[int]
    records: list[int]
    on_disk: int
    synced: int
    old: int

    def draw(self, noise: Random) -> tuple[int, int]:
        """How many batches stay, and how many bytes of the next one."""
        keep, torn = draw_survivors(noise.random, self.old, len(self.ends))
        if torn is None:
            return keep, 0
        size = self.ends[keep] - self.end_of(keep)
        return keep, 1 + int(torn * (size - 1))

    def lose(self, keep: int, torn: int) -> dict[str, object]:
        """Write what stays into the durable file.

        Returns:
            What to print of it.

        Raises:
            OSError: it could not be written.
        """
        if keep == self.synced and not torn:
            torn = self.on_disk - self.end_of(keep)
        else:
            self.durable.mkdir(exist_ok=True)
            begin, end = self.end_of(self.synced), self.end_of(keep) + torn
            fd = os.open(self.durable / self.segment, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                os.ftruncate(fd, begin)
                write_all(fd, self.text[begin:end], begin)
                os.fsync(fd)
            finally:
                os.close(fd)
            sync_directory(self.durable)
        return {
            "batches": {"kept": keep, "lost": len(self.ends) - keep},
            "records": {"kept": sum(self.records[:keep]), "lost": sum(self.records[keep:])},
            "torn_bytes": torn,
        }

    def end_of(self, count: int) -> int:
        """The position behind so many batches."""
        return self.ends[count - 1] if count else 0


def log_before(name: str, data: Path, volatile: Path, killed_ms: int) -> LosingLog:
    """Look at a partition's files.

    A partition without a volatile log has lost what it could already.

    Args:
        name: of the partition.
        data: the broker's data directory.
        volatile: its volatile directory.
        killed_ms: when the power went (CLOCK_MONOTONIC).

    Raises:
        OSError: they cannot be read.
    """
    durable = data / name
    on_disk = segment_in(durable)
    written = segment_in(volatile / name)
    if on_disk is not None and written is not None:
        on_disk = make_alike(on_disk, written)
    synced = on_disk.stat().st_size if on_disk is not None else 0
    source = written or on_disk
    text = source.read_bytes() if source is not None else b""
    found = [f for f in scan(lambda position, size: text[position : position + size], len(text)) if f.sound]
    ends = list(accumulate(len(f.raw) for f in found))
    old = max(synced, old_until(volatile / name / WRITTEN_AT, killed_ms - _WRITEBACK_MS))
    return LosingLog(
        name,
        durable,
        source.name if source is not None else SEGMENT,
        text[: ends[-1]] if ends else b"",
        ends,
        [f.header.count for f in found if f.header is not None],
        on_disk=synced,
        synced=sum(end <= synced for end in ends),
        old=sum(end <= old for end in ends),
    )


def lose_power(
    data: Path, volatile: Path, *, keep: int | None, noise: Random, killed_ms: int
) -> dict[str, dict[str, object]]:
    """Do it to all logs, or to none.

    Args:
        data: the broker's data directory.
        volatile: its volatile directory.
        keep: batches that stay of each log; None to draw.
        noise: where draws come from.
        killed_ms: when the power went (CLOCK_MONOTONIC).

    Returns:
        What to print.

    Raises:
        CannotKeepError: a log cannot keep so many; nothing was done.
        DirectoryInUseError: the process still runs; nothing was done.
        OSError: a file could not be read or written.
    """
    lock = directory_lock.lock(data)
    try:
        before = partition_names(volatile) if volatile.exists() else set()
        logs = [log_before(name, data, volatile, killed_ms) for name in sorted(before | partition_names(data))]
        if keep is not None:
            for log in logs:
                check_keep(log.name, keep, safe=log.synced, written=len(log.ends), how_safe="synced")
        said = {log.name: log.lose(*((keep, 0) if keep is not None else log.draw(noise))) for log in logs}
        for name in before:
            shutil.rmtree(volatile / name)
        return said
    finally:
        os.close(lock)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 0, or 2 with a sentence on standard error."""
    command = PowerLossCommand("the broker's data directory")
    add = command.parser.add_argument
    add("--volatile", type=Path, required=True, help="its volatile directory; its logs will be gone")
    add("--killed-at", type=int, metavar="MS", help="CLOCK_MONOTONIC in ms when the process ended (now)")
    return command.run(arguments, _lose_power, directory_lock.DirectoryInUseError)


def _lose_power(given: argparse.Namespace) -> dict[str, dict[str, object]]:
    killed_ms = now_ms() if given.killed_at is None else given.killed_at
    return lose_power(given.data, given.volatile, keep=given.keep, noise=Random(given.seed), killed_ms=killed_ms)


if __name__ == "__main__":
    sys.exit(main())
