"""What a broker's files hold of the coordinators' logs at the end of a run (``__consumer_offsets``, ``__transaction_state``,
``__share_group_state``).

Not told is a log of which compaction may have taken something (more than one segment, where it may be compacted), and one in a
message format that has no leader epochs.
"""

from __future__ import annotations

from collections import defaultdict
from struct import Struct
from typing import TYPE_CHECKING

from tidemark.checkers.history.trace_events import CoordinatorLog
from tidemark.checkers.lost_offset_commit import OF_GROUPS
from tidemark.harness.evidence.run_error import RunError
from tidemark.harness.systems.kafka.internal_topics import COMPACT, INTERNAL_TOPICS
from tidemark.harness.systems.kafka.metadata_files import batches_in
from tidemark.harness.systems.kafka.places import KafkaPlaces
from tidemark.nodes.formats.bad_batch import BadBatchError
from tidemark.nodes.formats.checkpoints import HIGH_WATERMARKS
from tidemark.nodes.formats.log_directories import BOTH
from tidemark.nodes.formats.message_set import scan
from tidemark.nodes.formats.partition_files import CheckpointFormatError, is_partition, read_offsets
from tidemark.nodes.formats.record_batch import is_control, read_header, records_of
from tidemark.nodes.formats.segment import base_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.checkers.history.trace_events import TraceEvent
    from tidemark.harness.evidence.collect import Evidence
    from tidemark.nodes.formats.message_set import Entry

_DATA = KafkaPlaces().data
FOLDERS = (_DATA, *(f"{_DATA}/{one}" for one in BOTH))
COMPACTED = frozenset(topic.name for topics in INTERNAL_TOPICS.values() for topic in topics if topic.cleanup == COMPACT)
OF_A_COMMIT = (0, 1)
"""Versions of the key of an offset commit (``OffsetCommitKey.json``, Kafka 3.9); other records of groups have others."""
_VERSION, _LENGTH, _OFFSET = Struct(">h"), Struct(">h"), Struct(">q")


def coordinator_logs_of(evidence: Evidence) -> Iterator[TraceEvent]:
    """Events that tell of them, without time and node.

    Raises:
        RunError: a file is not what it should be.
    """
    for folder in FOLDERS:
        logs: defaultdict[str, dict[int, bytes]] = defaultdict(dict)
        for path, content in evidence.files.items():
            above, _, name = path.rpartition("/")
            partition, base = above.removeprefix(f"{folder}/"), base_of(name)
            if base is not None and partition != above and _is_of_coordinators(partition):
                logs[partition][base] = content
        checkpoint = evidence.files.get(f"{folder}/{HIGH_WATERMARKS}", b"").decode(errors="replace")
        try:
            high_watermarks = read_offsets(checkpoint, HIGH_WATERMARKS)
            for partition, segments in sorted(logs.items()):
                compacted = len(segments) > 1 and partition.rpartition("-")[0] in COMPACTED
                if not compacted and not any(_is_old(content) for content in segments.values()):
                    yield _told(partition, segments, high_watermarks.get(partition, 0))
        except (BadBatchError, CheckpointFormatError) as error:
            raise RunError(f"the coordinators' logs of {evidence.name} cannot be read: {error}") from None


def _is_of_coordinators(partition: str) -> bool:
    topics = {topic.name for topics in INTERNAL_TOPICS.values() for topic in topics}
    return is_partition(partition) and partition.rpartition("-")[0] in topics


def _is_old(segment: bytes) -> bool:
    first = next(_entries(segment), None)
    return first is not None and first.magic != 2


def _entries(segment: bytes) -> Iterator[Entry]:
    return scan(lambda position, size: segment[position : position + size], len(segment))


def _told(partition: str, segments: dict[int, bytes], hw: int) -> TraceEvent:
    ordered = [content for _, content in sorted(segments.items())]
    entries = tuple(batch for content in ordered for batch in batches_in(content))
    of_groups = ordered if partition.startswith(f"{OF_GROUPS}-") else ()
    commits = tuple(commit for content in of_groups for commit in commits_in(content))
    end = entries[-1][1] if entries else min(segments)
    return (CoordinatorLog.kind, partition, min(segments), min(hw, end), entries, commits)


def commits_in(segment: bytes) -> Iterator[tuple[int, str, int]]:
    """The offsets that groups committed, in a segment of ``__consumer_offsets``: (offset in the log, group, committed offset).

    Raises:
        BadBatchError: records are damaged.
    """
    for entry in _entries(segment):
        if is_control(entry.raw):
            continue
        base = read_header(entry.raw).base_offset
        for place, (key, value) in enumerate(records_of(entry.raw)):
            if key is not None and value is not None and _VERSION.unpack_from(key)[0] in OF_A_COMMIT:
                begin = _VERSION.size + _LENGTH.size
                group = key[begin : begin + _LENGTH.unpack_from(key, _VERSION.size)[0]].decode(errors="replace")
                yield base + place, group, _OFFSET.unpack_from(value, _VERSION.size)[0]
