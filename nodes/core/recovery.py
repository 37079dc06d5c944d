"""From what lies on disk to what a broker starts with (docs/protocol.md, "Storage and crashes")."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from nodes.core.log import Batch


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
    """

    batches: list[StoredBatch] = field(default_factory=list)
    epochs: tuple[tuple[int, int], ...] = ()


@dataclass(slots=True)
class DiskImage:
    """What one broker's log directory holds when the process starts.

    Attributes:
        partitions: by name.
        high_watermarks: ``replication-offset-checkpoint``; a missing partition reads as 0.
        clean_broker_epoch: content of the clean-shutdown mark, None if there is no mark (KIP-966).
    """

    partitions: dict[str, PartitionImage] = field(default_factory=dict)
    high_watermarks: dict[str, int] = field(default_factory=dict)
    clean_broker_epoch: int | None = None


@dataclass(slots=True)
class RecoveredPartition:
    """What recovery leaves of a partition: whole batches, an epoch cache that matches them, and an HW inside the log."""

    batches: list[Batch]
    epochs: tuple[tuple[int, int], ...]
    hw: int


@dataclass(slots=True)
class Recovered:
    """The state a broker starts with; ``clean_broker_epoch`` is −1 after an unclean stop."""

    partitions: dict[str, RecoveredPartition]
    clean_broker_epoch: int = -1


def recover(image: DiskImage) -> Recovered:
    """Load the logs; without the clean mark, cut at the first bad batch and rebuild what the epoch cache misses.

    A broken batch and all that follows it are dropped, epochs that begin at or after the log's end go, and epochs that only
    the batches know are added (KAFKA-10432). The high watermark is the checkpointed one, never beyond the log's end.
    """
    partitions = {}
    clean = image.clean_broker_epoch is not None
    for name, files in image.partitions.items():
        batches = [stored.batch for stored in files.batches] if clean else _scan(files.batches)
        leo = batches[-1].end if batches else 0
        epochs = [entry for entry in files.epochs if entry[1] < leo]
        if not clean:
            for batch in batches:
                if batch.epoch > (epochs[-1][0] if epochs else -1):
                    epochs.append((batch.epoch, batch.base))
        hw = min(image.high_watermarks.get(name, 0), leo)
        partitions[name] = RecoveredPartition(batches, tuple(epochs), hw)
    return Recovered(partitions, -1 if image.clean_broker_epoch is None else image.clean_broker_epoch)


def _scan(stored: list[StoredBatch]) -> list[Batch]:
    """The batches before the first one that is broken or does not follow the one before."""
    batches: list[Batch] = []
    for batch, sound in stored:
        if not sound or (batches and batch.base != batches[-1].end):
            break
        batches.append(batch)
    return batches
