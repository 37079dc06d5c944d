"""A simulated disk: what was written, what of it is safe, and what a power loss leaves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nodes.core.log import Batch
from nodes.core.power_loss import WRITEBACK_US, draw_survivors
from nodes.core.recovery import DiskImage, PartitionImage, StoredBatch

if TYPE_CHECKING:
    from random import Random

    from nodes.core.recovery import RecoveredPartition


@dataclass(slots=True)
class SimLogFile:
    """One partition's log: batches with the time each was written; the first ``synced`` were fsynced.

    ``torn`` is half a batch that a power loss left behind them; ``base`` is the offset in the file's name.
    """

    batches: list[Batch] = field(default_factory=list)
    written_us: list[int] = field(default_factory=list)
    synced: int = 0
    torn: StoredBatch | None = None
    epochs: tuple[tuple[int, int], ...] = ()
    base: int = 0


class SimDisk:
    """One broker's disk. Checkpoint files are written, fsynced and renamed, so they survive; log appends may not."""

    def __init__(self) -> None:
        """An empty disk."""
        self.files: dict[str, SimLogFile] = {}
        self.high_watermarks: dict[str, int] = {}
        self.log_starts: dict[str, int] = {}
        self.clean_broker_epoch: int | None = None
        self.votes: dict[str, tuple[int, int]] = {}

    def file(self, partition: str) -> SimLogFile:
        """The partition's log file, made when it is first asked for."""
        found = self.files.get(partition)
        if found is None:
            found = self.files[partition] = SimLogFile()
        return found

    def append(self, now: int, partition: str, batch: Batch) -> None:
        """Into the page cache."""
        log = self.files.get(partition) or self.file(partition)
        log.batches.append(batch)
        log.written_us.append(now)

    def truncate(self, partition: str, offset: int) -> None:
        """Cut at a batch boundary; the cut itself is durable at once (a journalled metadata change)."""
        log = self.file(partition)
        while log.batches and log.batches[-1].end > offset:
            log.batches.pop()
            log.written_us.pop()
        log.synced = min(log.synced, len(log.batches))
        if not log.batches:
            log.base = offset

    def begin_at(self, partition: str, offset: int) -> None:
        """Empty the file; it begins at an offset now. As durable as a cut."""
        log = self.file(partition)
        log.batches.clear()
        log.written_us.clear()
        log.synced, log.base = 0, offset

    def drop_before(self, partition: str, offset: int) -> None:
        """Take whole batches from the beginning; the same."""
        log = self.file(partition)
        gone = sum(1 for batch in log.batches if batch.end <= offset)
        del log.batches[:gone]
        del log.written_us[:gone]
        log.synced, log.base = max(log.synced - gone, 0), offset

    def delete(self, partition: str) -> None:
        """Delete the partition's directory; durable at once, as a cut is."""
        self.files.pop(partition, None)

    def sync(self, partition: str) -> None:
        """Fsync."""
        log = self.file(partition)
        log.synced = len(log.batches)

    def lose_power(self, now: int, noise: Random) -> None:
        """Keep what was synced or old enough, any prefix of the rest, and perhaps a torn batch (:mod:`nodes.core.power_loss`)."""
        for log in self.files.values():
            safe = log.synced
            while safe < len(log.batches) and now - log.written_us[safe] >= WRITEBACK_US:
                safe += 1
            keep, torn = draw_survivors(noise.random, safe, len(log.batches))
            log.torn = None
            if torn is not None:
                cut = log.batches[keep]
                written = cut.values[: int(torn * len(cut.values))]
                log.torn = StoredBatch(Batch(cut.base, cut.epoch, written), sound=False)
            del log.batches[keep:]
            del log.written_us[keep:]
            log.synced = keep

    def keep_synced(self) -> None:
        """The page cache is gone, and nothing of it had reached the disk on its own."""
        for log in self.files.values():
            del log.batches[log.synced :]
            del log.written_us[log.synced :]
            log.torn = None

    def wipe(self) -> None:
        """A new, empty disk."""
        self.__init__()  # type: ignore[misc]

    def recover(self, partition: str, found: RecoveredPartition) -> None:
        """Write what recovery changed: the epochs, and a log that was dropped because it ends below its start."""
        log = self.file(partition)
        log.epochs = found.epochs
        if not found.batches and log.batches:
            self.begin_at(partition, found.leo)

    def load(self) -> DiskImage:
        """What a starting process finds; the clean-shutdown mark is deleted at the start of loading."""
        partitions = {}
        for name, log in self.files.items():
            stored = [StoredBatch(batch) for batch in log.batches]
            partitions[name] = PartitionImage([*stored, log.torn] if log.torn else stored, log.epochs, log.base)
            log.torn = None
        image = DiskImage(
            partitions, dict(self.high_watermarks), self.clean_broker_epoch, dict(self.log_starts), dict(self.votes)
        )
        self.clean_broker_epoch = None
        return image
