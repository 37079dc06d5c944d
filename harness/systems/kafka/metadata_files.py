"""What a node's files hold of KRaft's metadata log at the end of a run.

A follower of that log appends its leader's batches byte for byte, so two logs agree where their batches' offsets, leader epochs and
checksums (CRC-32C, over all that follows it) do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.checkers.history.trace_events import MetadataLog
from tidemark.harness.systems.kafka.places import KafkaPlaces
from tidemark.nodes.formats.partition_files import METADATA_LOG, METADATA_SNAPSHOT
from tidemark.nodes.formats.record_batch import HEADER_SIZE, read_header
from tidemark.nodes.formats.segment import base_of

if TYPE_CHECKING:
    from tidemark.checkers.history.trace_events import TraceEvent
    from tidemark.harness.evidence.collect import Evidence

_PLACES = KafkaPlaces()
FOLDERS = tuple(
    f"{above}/{METADATA_LOG}"
    for above in (_PLACES.metadata, f"{_PLACES.data}/kafka", _PLACES.data, f"{_PLACES.data}/first")
)
"""Where it may lie: a broker's that is a controller, too; a controller's; a broker's, with one log directory or two."""

Batch = tuple[int, int, int, int]
"""Base offset, next offset, leader epoch, checksum."""


def metadata_log_of(evidence: Evidence, hw: int) -> TraceEvent | None:
    """The event that tells of it, without time and node, or `None` where there are no files.

    Args:
        evidence: of one node.
        hw: up to which offset it is committed, as the node has heard.
    """
    found = {path: content for path, content in evidence.files.items() if path.rpartition("/")[0] in FOLDERS}
    segments = sorted(
        (base, content) for path, content in found.items() if (base := base_of(path.rpartition("/")[2])) is not None
    )
    if not segments:
        return None
    batches = tuple(batch for _, content in segments for batch in batches_in(content))
    names = (METADATA_SNAPSHOT.fullmatch(path.rpartition("/")[2]) for path in sorted(found))
    snapshots = tuple((int(name[1]), int(name[2])) for name in names if name is not None)
    return (MetadataLog.kind, "", segments[0][0], hw, snapshots, batches)


def batches_in(segment: bytes) -> list[Batch]:
    """The whole batches at the beginning of a segment."""
    found: list[Batch] = []
    at = 0
    while len(segment) - at >= HEADER_SIZE:
        header = read_header(segment, at)
        if header.magic != 2 or header.length <= 0 or at + header.size > len(segment):
            break
        base = header.base_offset
        found.append((base, base + header.last_offset_delta + 1, header.leader_epoch, header.crc))
        at += header.size
    return found
