"""A simulated disk: what was written, what of it is safe, and what a power loss leaves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from tidemark.nodes.core.damage import CUT_TAIL, draw_files
from tidemark.nodes.core.log import Batch
from tidemark.nodes.core.power_loss import WRITEBACK_US, draw_survivors
from tidemark.nodes.core.recovery import DiskImage, PartitionImage, StoredBatch

if TYPE_CHECKING:
    from random import Random

    from tidemark.nemesis.damage import Damage
    from tidemark.nodes.core.recovery import RecoveredPartition

WHOLE = 1000
"""Thousandths."""
MARK_LOST = 0.5
"""Share of power losses that take a clean-shutdown mark which may be lost."""


@dataclass(slots=True)
class SimLogFile:
    """One partition's log: batches with the time each was written; the first ``synced`` were fsynced.

    ``broken`` is what lies behind them that recovery must not take: half a batch that a power loss left, or one that was
    damaged, and all that follows it. ``base`` is the offset in the file's name.
    """

    batches: list[Batch] = field(default_factory=list)
    written_us: list[int] = field(default_factory=list)
    synced: int = 0
    broken: list[StoredBatch] = field(default_factory=list)
    epochs: tuple[tuple[int, int], ...] = ()
    base: int = 0


class SimCut(NamedTuple):
    """A truncation that the file system may not have committed yet: when, of what, what went, when that was written, how many
    batches of the log were durable before, and how many syncs of any file there had been.
    """

    time: int
    partition: str
    gone: list[Batch]
    written_us: list[int]
    synced: int
    syncs: int


class SimReplaced(NamedTuple):
    """A checkpoint file that was replaced: when, its name (of epochs the partition's), what it held, and the syncs before."""

    time: int
    name: str
    before: Any
    syncs: int


class SimDisk:
    """One broker's disk. Checkpoint files are written, fsynced and renamed, so they survive; log appends may not.

    Its file system commits metadata in order, and every sync of a file commits what was before, of other files, too, as ext4 and
    XFS do; unless a power loss is of one that commits each file by itself.

    Attributes:
        syncs_directories: that of a replaced file is synced as well (Kafka since 3.0, KAFKA-3968): it is not taken back.
        came_back: partition → the offset from which on its log is again as it was before cuts; until the next :meth:`load`.
    """

    def __init__(self, *, syncs_directories: bool = False) -> None:
        self.syncs_directories = syncs_directories
        self.came_back: dict[str, int] = {}
        self._cuts: list[SimCut] = []
        self._replaced: list[SimReplaced] = []
        self._syncs = 0
        """Of any file."""
        self.files: dict[str, SimLogFile] = {}
        self.high_watermarks: dict[str, int] = {}
        self.log_starts: dict[str, int] = {}
        self.clean_broker_epoch: int | None = None
        self._marked_us: int | None = None
        """When the clean-shutdown mark was written, while a power loss may take it."""
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

    def truncate(self, partition: str, offset: int, now: int = 0) -> None:
        """Cut at a batch boundary; the cut itself is durable at once (a journalled metadata change), unless it is taken back."""
        log = self.file(partition)
        kept = len(log.batches)
        while kept and log.batches[kept - 1].end > offset:
            kept -= 1
        if kept < len(log.batches):
            self._cuts.append(
                SimCut(now, partition, log.batches[kept:], log.written_us[kept:], log.synced, self._syncs)
            )
            del log.batches[kept:]
            del log.written_us[kept:]
        log.synced = min(log.synced, len(log.batches))
        if not log.batches:
            log.base = offset

    def begin_at(self, partition: str, offset: int) -> None:
        """Empty the file; it begins at an offset now. As durable as a cut."""
        log = self.file(partition)
        self._commit_cuts(partition)
        log.batches.clear()
        log.written_us.clear()
        log.synced, log.base = 0, offset

    def drop_before(self, partition: str, offset: int) -> None:
        """Take whole batches from the beginning; the same."""
        log = self.file(partition)
        self._commit_cuts(partition)
        gone = sum(1 for batch in log.batches if batch.end <= offset)
        del log.batches[:gone]
        del log.written_us[:gone]
        log.synced, log.base = max(log.synced - gone, 0), offset

    def delete(self, partition: str) -> None:
        """Delete the partition's directory; durable at once, as a cut is."""
        self._commit_cuts(partition)
        self.files.pop(partition, None)

    def sync(self, partition: str) -> None:
        """Fsync."""
        log = self.file(partition)
        log.synced = len(log.batches)
        self._commit_cuts(partition)
        self._syncs += 1

    def write_epochs(self, partition: str, epochs: tuple[tuple[int, int], ...], now: int) -> None:
        """Replace the partition's file of epochs."""
        log = self.file(partition)
        self._replace(now, partition, log.epochs)
        log.epochs = epochs

    def write_checkpoint(self, name: str, offsets: dict[str, int], now: int) -> None:
        """Replace a file that is about all partitions, ``high_watermarks`` or ``log_starts``."""
        self._replace(now, name, getattr(self, name))
        setattr(self, name, offsets)

    def write_vote(self, partition: str, generation: int, candidate: int) -> None:
        """Keep a vote, synced."""
        self._syncs += 1
        self.votes[partition] = generation, candidate

    def _replace(self, now: int, name: str, before: object) -> None:
        """Write a temporary file, sync that, and rename it."""
        self._syncs += 1
        if not self.syncs_directories:
            self._replaced.append(SimReplaced(now, name, before, self._syncs))

    def take_back(self, since: int, what: frozenset[str]) -> None:
        """The power is about to be lost, and with it truncations (``cuts``) and replaced ``files`` since then.

        That was the file system's last commit, but for what came before a sync of any file; with ``by-file``, before one of that
        file. A cut log is what it was, with all that was written before the commit, and nothing of what was written behind the
        cut. How much survives of the rest, the loss draws.
        """
        last = -1 if "by-file" in what else self._syncs
        if "files" in what:
            for file in reversed(self._replaced):
                if file.time >= since and file.syncs >= last:
                    if file.name in self.files:
                        self.files[file.name].epochs = file.before
                    elif hasattr(self, file.name):
                        setattr(self, file.name, file.before)
        for cut in reversed(self._cuts if "cuts" in what else ()):
            if cut.time >= since and cut.syncs >= last:
                log, offset = self.file(cut.partition), cut.gone[0].base
                kept = sum(1 for batch in log.batches if batch.end <= offset)
                log.batches[kept:] = cut.gone
                log.written_us[kept:] = cut.written_us
                log.synced = min(cut.synced, len(log.batches))
                self.came_back[cut.partition] = min(offset, self.came_back.get(cut.partition, offset))
        for partition in self.came_back:
            log = self.file(partition)
            log.synced = max(log.synced, sum(1 for written in log.written_us if written < since))
        self._settle()

    def mark_clean(self, broker_epoch: int, now: int, *, synced: bool) -> None:
        """Leave the clean-shutdown mark. What came before it is durable, as the logs were just synced. A mark that nobody synced is
        when the page cache has reached the disk.
        """
        self._settle()
        self.clean_broker_epoch = broker_epoch
        self._marked_us = None if synced else now

    def _settle(self) -> None:
        """What a power loss left is what the disk has: no later one takes back more."""
        self._cuts.clear()
        self._replaced.clear()

    def _commit_cuts(self, partition: str) -> None:
        self._cuts = [cut for cut in self._cuts if cut.partition != partition]

    def lose_power(self, now: int, noise: Random) -> None:
        """Keep what was synced or old enough, any prefix of the rest, and perhaps a torn batch
        (:mod:`tidemark.nodes.core.power_loss`). There is a clean-shutdown mark only where no process runs.
        """
        if self._marked_us is not None:
            if now - self._marked_us < WRITEBACK_US and noise.random() < MARK_LOST:
                self.clean_broker_epoch = None
            self._marked_us = None
        for log in self.files.values():
            safe = log.synced
            while safe < len(log.batches) and now - log.written_us[safe] >= WRITEBACK_US:
                safe += 1
            keep, torn = draw_survivors(noise.random, safe, len(log.batches))
            log.broken = []
            if torn is not None:
                cut = log.batches[keep]
                written = cut.values[: int(torn * len(cut.values))]
                log.broken = [StoredBatch(Batch(cut.base, cut.epoch, written), sound=False)]
            del log.batches[keep:]
            del log.written_us[keep:]
            log.synced = keep
        self._settle()

    def damage(self, damage: Damage, noise: Random) -> None:
        """Damage logs: the first batch in which a bit was flipped, or that was cut in the middle, is broken. What lies behind it is
        there for one start, whole. A clean-shutdown mark beside it is not believed, as nodes with files do not.
        """
        for name in draw_files(noise.random, [name for name, log in self.files.items() if log.batches], damage.which):
            log = self.files[name]
            if damage.how == CUT_TAIL:
                place = len(log.batches) * (WHOLE - damage.amount) / WHOLE
            else:
                place = min(noise.random() for _ in range(max(damage.amount, 1))) * len(log.batches)
            keep = int(place)
            if keep < len(log.batches) and (damage.how != CUT_TAIL or place > keep):
                broken = log.batches[keep]
                log.broken = [
                    StoredBatch(Batch(broken.base, broken.epoch, ()), sound=False),
                    *map(StoredBatch, log.batches[keep + 1 :] if damage.how != CUT_TAIL else ()),
                ]
                self.clean_broker_epoch = None
            del log.batches[keep:], log.written_us[keep:]
            log.synced = min(log.synced, keep)
        self._settle()

    def keep_synced(self) -> None:
        """The page cache is gone, and nothing of it had reached the disk on its own."""
        for log in self.files.values():
            del log.batches[log.synced :]
            del log.written_us[log.synced :]
            log.broken = []
        self._settle()

    def wipe(self) -> None:
        """A new, empty disk."""
        self.__init__(syncs_directories=self.syncs_directories)  # type: ignore[misc]

    def recover(self, partition: str, found: RecoveredPartition) -> None:
        """Write what recovery changed: the epochs, and a log that was dropped because it ends below its start."""
        log = self.file(partition)
        log.epochs = found.epochs
        if not found.batches and (log.batches or log.base != found.leo):
            self.begin_at(partition, found.leo)

    def load(self) -> DiskImage:
        """What a starting process finds; the clean-shutdown mark is deleted at the start of loading."""
        partitions = {}
        for name, log in self.files.items():
            stored = [StoredBatch(batch) for batch in log.batches]
            partitions[name] = PartitionImage([*stored, *log.broken], log.epochs, log.base)
            log.broken = []
        image = DiskImage(
            partitions, dict(self.high_watermarks), self.clean_broker_epoch, dict(self.log_starts), dict(self.votes)
        )
        self.clean_broker_epoch = self._marked_us = None
        self.came_back = {}
        return image
