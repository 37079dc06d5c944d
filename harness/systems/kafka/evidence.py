"""A broker's own files at the end of a run: segments of every message format, leader epochs, checkpointed high watermarks."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.harness.evidence.run_error import RunError
from tidemark.harness.systems.kafka.places import KafkaPlaces
from tidemark.nodes.formats.bad_batch import BadBatchError
from tidemark.nodes.formats.checkpoints import EPOCHS, HIGH_WATERMARKS
from tidemark.nodes.formats.log_directories import BOTH
from tidemark.nodes.formats.message_set import read_segments
from tidemark.nodes.formats.partition_files import (
    RECOVERY_POINTS,
    CheckpointFormatError,
    is_internal,
    is_partition,
    read_epochs,
    read_offsets,
)
from tidemark.nodes.formats.segment import base_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.harness.evidence.collect import Evidence
    from tidemark.harness.evidence.replica_evidence import Segment


@dataclass(frozen=True, slots=True)
class BrokerFiles:
    """What one broker's log directory holds, or its two; internal topics, KRaft's metadata, and logs that are deleted or moved are
    left out.

    Attributes:
        segments: partition → its batches; epoch −1 where the message format has none.
        epochs: partition → its ``leader-epoch-checkpoint``, as (epoch, start offset); empty if there is none.
        high_watermarks: partition → checkpointed high watermark.
        recovery_points: partition → the offset up to which the log was flushed, as far as the broker noted it.
    """

    segments: dict[str, Segment]
    epochs: dict[str, tuple[tuple[int, int], ...]]
    high_watermarks: dict[str, int]
    recovery_points: dict[str, int]


def segments_of(evidence: Evidence) -> dict[str, Segment]:
    """The logs of one node.

    Raises:
        RunError: one cannot be read.
    """
    return files_of(evidence.files, evidence.name).segments


def files_of(files: Mapping[str, bytes], name: str, data: str = KafkaPlaces().data) -> BrokerFiles:
    """Look through the files that were collected from a node.

    Args:
        files: path → content.
        name: of the node, for errors.
        data: its log directory, or the one above its two.

    Raises:
        RunError: a file is not what it should be.
    """
    found = _files_in(files, name, data)
    for one in BOTH:
        there = _files_in(files, name, f"{data}/{one}")
        found.segments.update(there.segments)
        found.epochs.update(there.epochs)
        for all_offsets, offsets in (
            (found.high_watermarks, there.high_watermarks),
            (found.recovery_points, there.recovery_points),
        ):
            all_offsets.update(
                {partition: offset for partition, offset in offsets.items() if partition in there.segments}
            )
    return found


def _files_in(files: Mapping[str, bytes], name: str, data: str) -> BrokerFiles:
    """Those of one log directory; a checkpoint counts for the logs that lie there."""
    below = below_of(files, data)
    logs = {partition: segments for partition, segments in logs_in(below).items() if not is_internal(partition)}
    try:
        return BrokerFiles(
            {partition: read_segments(segments) for partition, segments in sorted(logs.items())},
            {partition: read_epochs(*_text(below, f"{partition}/{EPOCHS}")) for partition in sorted(logs)},
            _offsets(below, HIGH_WATERMARKS),
            _offsets(below, RECOVERY_POINTS),
        )
    except (BadBatchError, CheckpointFormatError) as error:
        raise RunError(f"the files of {name} cannot be read: {error}") from None


def below_of(files: Mapping[str, bytes], directory: str) -> dict[str, bytes]:
    """What lies in a directory: its files, by their paths from there."""
    above = f"{directory}/"
    return {path.removeprefix(above): content for path, content in files.items() if path.startswith(above)}


def logs_in(below: Mapping[str, bytes]) -> dict[str, dict[str, bytes]]:
    """The logs that lie in a log directory itself, internal ones as well: partition → name of a segment → its content."""
    logs: dict[str, dict[str, bytes]] = defaultdict(dict)
    for path, content in below.items():
        partition, _, file = path.rpartition("/")
        if base_of(file) is not None and is_partition(partition) and "/" not in partition:
            logs[partition][file] = content
    return logs


def offsets_in(below: Mapping[str, bytes], name: str) -> dict[str, int]:
    """A log directory's checkpoint of offsets, those of internal topics as well.

    Raises:
        CheckpointFormatError: it is none.
    """
    return read_offsets(*_text(below, name))


def _offsets(files: Mapping[str, bytes], name: str) -> dict[str, int]:
    found = offsets_in(files, name)
    return {partition: offset for partition, offset in found.items() if not is_internal(partition)}


def _text(files: Mapping[str, bytes], name: str) -> tuple[str, str]:
    """What a checkpoint holds, nothing if it is not there; and its name."""
    return files.get(name, b"").decode(errors="replace"), name
