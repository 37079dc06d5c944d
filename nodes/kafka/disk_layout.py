"""A given log as the files of a broker's log directory, laid out before its first start.

The topic must be there as well (:mod:`nodes.kafka.seed_topic`). All of it counts as flushed, with the mark of a clean shutdown: a
broker that has to recover its logs would rebuild the leader epochs from their batches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from nodes.kafka import legacy_message
from nodes.kafka.message_set import Batch, segment_name
from nodes.kafka.partition_files import CLEAN_SHUTDOWN, NEEDED_INDEXES, RECOVERY_POINTS
from nodes.process.storage.checkpoints import EPOCHS, HIGH_WATERMARKS
from nodes.process.storage.durable import sync_directory
from nodes.process.storage.record_batch import build


@dataclass(frozen=True, slots=True)
class GivenLog:
    """One partition's log.

    Attributes:
        batches: (base offset, leader epoch, values), without gaps.
        epochs: (leader epoch, start offset), for ``leader-epoch-checkpoint``.
        hw: the checkpointed high watermark.
    """

    batches: Sequence[Batch]
    epochs: Sequence[tuple[int, int]] = ()
    hw: int = 0

    @property
    def base(self) -> int:
        """Its first offset."""
        return self.batches[0][0] if self.batches else 0

    @property
    def leo(self) -> int:
        """The offset after its last record."""
        return self.batches[-1][0] + len(self.batches[-1][2]) if self.batches else 0


def files_of(logs: Mapping[str, GivenLog], *, magic: int = 2, timestamp_ms: int = 0) -> dict[str, bytes]:
    """Path below the log directory → content.

    Args:
        logs: by partition, such as ``t-0``.
        magic: 2; or 1, whose messages have no epochs (protocol 0.10: ``leader-epoch-checkpoint`` is not written).
        timestamp_ms: of all records, since 1970. Kafka deletes what is older than its retention: switch that off.

    Raises:
        ValueError: there is no such magic, or a log has gaps.
    """
    files: dict[str, bytes] = {}
    for partition, log in logs.items():
        _check_whole(partition, log.batches)
        segment = f"{partition}/{segment_name(log.base)}"
        files[segment] = b"".join(_encoded(log.batches, magic, timestamp_ms))
        files |= {segment.removesuffix(".log") + index: b"" for index in NEEDED_INDEXES}
        if magic == 2:
            files[f"{partition}/{EPOCHS}"] = _checkpoint(f"{epoch} {start}" for epoch, start in log.epochs)
    named = {partition: " ".join(partition.rsplit("-", 1)) for partition in logs}
    files[HIGH_WATERMARKS] = _checkpoint(f"{named[partition]} {log.hw}" for partition, log in logs.items())
    files[RECOVERY_POINTS] = _checkpoint(f"{named[partition]} {log.leo}" for partition, log in logs.items())
    files[CLEAN_SHUTDOWN] = b""
    return files


def write(data: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a log directory, flushed.

    Raises:
        OSError: they could not be written.
    """
    for name, content in files.items():
        path = data / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        sync_directory(path)
        sync_directory(path.parent)
    sync_directory(data)


def _encoded(batches: Iterable[Batch], magic: int, timestamp_ms: int) -> Iterable[bytes]:
    for base, epoch, values in batches:
        if magic == 2:
            yield build(values, base, epoch, timestamp_ms=timestamp_ms)
        elif magic == 1:
            for offset, value in enumerate(values, base):
                yield legacy_message.encode(offset, b"%d" % value, timestamp_ms=timestamp_ms)
        else:
            raise ValueError(f"A log can be laid out with magic 1 or 2, not {magic}.")


def _check_whole(partition: str, batches: Sequence[Batch]) -> None:
    for (base, _, values), (following, _, _) in pairwise(batches):
        if base + len(values) != following:
            raise ValueError(
                f"The given log of {partition} has a gap: offset {base + len(values)} is followed by {following}."
            )


def _checkpoint(entries: Iterable[str]) -> bytes:
    lines = list(entries)
    return "".join(f"{line}\n" for line in ("0", len(lines), *lines)).encode()
