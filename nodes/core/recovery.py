"""From what lies on disk to what a broker starts with (docs/protocol.md, "Storage and crashes")."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from tidemark.nodes.core.epoch_cache import UNDEFINED, EpochCache
from tidemark.nodes.core.log import Batch


class StoredBatch(NamedTuple):
    """A batch as it lies in the log file, and whether it is whole, as its checksum tells.

    A batch that was being written when the power failed holds only its first records, and is not sound.
    """

    batch: Batch
    sound: bool = True


@dataclass(slots=True)
class PartitionImage:
    """One partition's files.

    Attributes:
        batches: what the log file holds, in order.
        epochs: ``leader-epoch-checkpoint``, or empty.
        base: the offset that the log file begins with, by its name, which is where an empty one ends.
    """

    batches: list[StoredBatch] = field(default_factory=list)
    epochs: tuple[tuple[int, int], ...] = ()
    base: int = 0


@dataclass(slots=True)
class DiskImage:
    """What one broker's log directory holds when the process starts.

    Attributes:
        partitions: by name.
        high_watermarks: ``replication-offset-checkpoint``; a missing partition reads as 0.
        clean_broker_epoch: content of the clean-shutdown mark, None if there is no mark (KIP-966).
        log_starts: ``log-start-offset-checkpoint``; a missing partition begins where its log file does.
        votes: partition → newest generation known, and whom it voted for in it (families that vote).
    """

    partitions: dict[str, PartitionImage] = field(default_factory=dict)
    high_watermarks: dict[str, int] = field(default_factory=dict)
    clean_broker_epoch: int | None = None
    log_starts: dict[str, int] = field(default_factory=dict)
    votes: dict[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(slots=True)
class RecoveredPartition:
    """What recovery leaves of a partition: whole batches, an epoch cache that matches them, and an HW inside the log.

    Attributes:
        start: log start offset. leo: log end offset; −1 for where the batches end, or, without any, the log start.
    """

    batches: list[Batch]
    epochs: tuple[tuple[int, int], ...]
    hw: int
    start: int = 0
    leo: int = -1

    def __post_init__(self) -> None:
        """Derive the end offset."""
        if self.leo < 0:
            self.leo = self.batches[-1].end if self.batches else self.start

    def epochs_of_batches(self) -> tuple[tuple[int, int], ...]:
        """What the epoch cache says if each of its epochs has a record: where each begins, from the log start on."""
        starts: dict[int, int] = {}
        for batch in self.batches:
            if batch.end > self.start:
                starts.setdefault(batch.epoch, max(batch.base, self.start))
        return tuple(starts.items())


@dataclass(slots=True)
class Recovered:
    """The state a broker starts with; ``clean_broker_epoch`` is −1 after an unclean stop."""

    partitions: dict[str, RecoveredPartition]
    clean_broker_epoch: int = -1
    log_starts: dict[str, int] = field(default_factory=dict)
    """As they are in the checkpoint."""
    votes: dict[str, tuple[int, int]] = field(default_factory=dict)


class RecoveryRules(NamedTuple):
    """What a variant does otherwise.

    Attributes:
        keep_short_logs: keep a log that ends below its start, as it is (KAFKA-8306).
        rebuild_epochs: without the clean mark, take all epochs from the batches, and none from the file.
        skip_epoch_0: add no entry for leader epoch 0 (KAFKA-10432).
        epochs_pile_up: an epoch that is added drives out none that begins no earlier (before KAFKA-7415).
        keep_last_epoch: where no record is left, keep the latest epoch of the file, as if it began at the log's end.
    """

    keep_short_logs: bool = False
    rebuild_epochs: bool = False
    skip_epoch_0: bool = False
    epochs_pile_up: bool = False
    keep_last_epoch: bool = False


def recover(image: DiskImage, rules: RecoveryRules = RecoveryRules()) -> Recovered:  # noqa: B008 (it is immutable)
    """Load the logs; without the clean mark, cut at the first bad batch and rebuild what the epoch cache misses.

    A broken batch and all that follows it are dropped, epochs that begin at or after the log's end go, and epochs that only
    the batches know are added (KAFKA-10432). The log starts where its checkpoint says, or its first batch if that is later; a log
    that ends below that is dropped, epochs included, and begins anew there (``LogLoader.recoverLog``, Kafka 3.9; the epochs since
    2.8). The high watermark is the checkpointed one, never beyond the log's end, and never below its start.

    The log start may be an older one after an unclean stop. The epochs that were cut off with a newer one do not come back, unless
    the rules say so: Kafka looks for later epochs only.
    """
    partitions = {}
    clean = image.clean_broker_epoch is not None
    for name, files in image.partitions.items():
        batches = [stored.batch for stored in files.batches] if clean else _scan(files.batches)
        leo = batches[-1].end if batches else files.base
        epochs = [] if rules.rebuild_epochs and not clean else [*files.epochs]
        if not clean:
            for batch in batches:
                if batch.epoch > (epochs[-1][0] if epochs else rules.skip_epoch_0 - 1):
                    while epochs and epochs[-1][1] >= batch.base and not rules.epochs_pile_up:
                        epochs.pop()
                    epochs.append((batch.epoch, batch.base))
        epochs = [entry for entry in epochs if entry[1] < leo]
        hw = min(image.high_watermarks.get(name, 0), leo)
        start = max(image.log_starts.get(name, 0), batches[0].base if batches else files.base)
        if start == 0:
            partitions[name] = RecoveredPartition(batches, tuple(epochs), hw)
            continue
        if leo < start and not rules.keep_short_logs:
            batches, epochs, hw, leo = [], [], start, start
        cache = EpochCache(tuple(epochs))
        cache.truncate_from_start(start)
        if rules.keep_last_epoch and leo <= start and cache.latest == UNDEFINED and files.epochs:
            cache.assign(files.epochs[-1][0], leo)
        hw = hw if leo < start else max(hw, start)
        partitions[name] = RecoveredPartition(batches, cache.entries(), hw, start, leo)
    clean_broker_epoch = -1 if image.clean_broker_epoch is None else image.clean_broker_epoch
    return Recovered(partitions, clean_broker_epoch, dict(image.log_starts), dict(image.votes))


def _scan(stored: list[StoredBatch]) -> list[Batch]:
    """The batches before the first one that is broken or begins before the one before ends; offsets may be missing."""
    batches: list[Batch] = []
    for batch, sound in stored:
        if not sound or (batches and batch.base < batches[-1].end):
            break
        batches.append(batch)
    return batches
