"""What a broker's files hold of the coordinators' logs at the end of a run (``__consumer_offsets``, ``__transaction_state``,
``__share_group_state``).

Not told is a log of which compaction may have taken something (more than one segment, where it may be compacted), and one in a
message format that has no leader epochs.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING

from tidemark.checkers.history.trace_events import CoordinatorLog
from tidemark.checkers.lost_offset_commit import OF_GROUPS
from tidemark.harness.evidence.run_error import RunError
from tidemark.harness.systems.kafka.evidence import below_of, logs_in, offsets_in
from tidemark.harness.systems.kafka.internal_topics import COMPACT, INTERNAL_TOPICS
from tidemark.harness.systems.kafka.places import KafkaPlaces
from tidemark.nodes.formats.bad_batch import BadBatchError
from tidemark.nodes.formats.checkpoints import HIGH_WATERMARKS
from tidemark.nodes.formats.log_directories import BOTH
from tidemark.nodes.formats.message_set import entries_of
from tidemark.nodes.formats.partition_files import CheckpointFormatError
from tidemark.nodes.formats.record_batch import is_control, read_header, records_of
from tidemark.nodes.formats.segment import base_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tidemark.checkers.history.trace_events import TraceEvent
    from tidemark.harness.evidence.collect import Evidence
    from tidemark.nodes.formats.message_set import Entry

_DATA = KafkaPlaces().data
FOLDERS = (_DATA, *(f"{_DATA}/{one}" for one in BOTH))
CLEANUP = {topic.name: topic.cleanup for topics in INTERNAL_TOPICS.values() for topic in topics}
"""Topic of coordinators → how what is old goes."""
OF_A_COMMIT = (0, 1)
"""Versions of the key of an offset commit (``OffsetCommitKey.json``, Kafka 3.9); other records of groups have others."""
_VERSION, _LENGTH, _OFFSET = Struct(">h"), Struct(">h"), Struct(">q")


def coordinator_logs_of(evidence: Evidence) -> Iterator[TraceEvent]:
    """Events that tell of them, without time and node.

    Raises:
        RunError: a file is not what it should be.
    """
    for folder in FOLDERS:
        below = below_of(evidence.files, folder)
        try:
            high_watermarks = offsets_in(below, HIGH_WATERMARKS)
            for partition, segments in sorted(logs_in(below).items()):
                yield from _told(partition, segments, high_watermarks.get(partition, 0))
        except (BadBatchError, CheckpointFormatError) as error:
            raise RunError(f"the coordinators' logs of {evidence.name} cannot be read: {error}") from None


def _told(partition: str, segments: Mapping[str, bytes], hw: int) -> Iterator[TraceEvent]:
    topic = partition.rpartition("-")[0]
    if topic not in CLEANUP or (len(segments) > 1 and CLEANUP[topic] == COMPACT):
        return
    entries = [entry for name in sorted(segments) for entry in entries_of(segments[name])]
    if any(entry.magic != 2 for entry in entries):
        return
    batches = tuple((entry.base, entry.next, entry.epoch, read_header(entry.raw).crc) for entry in entries)
    commits = tuple(commits_in(entries)) if topic == OF_GROUPS else ()
    start = base_of(min(segments)) or 0
    end = batches[-1][1] if batches else start
    yield (CoordinatorLog.kind, partition, start, min(hw, end), batches, commits)


def commits_in(entries: Iterable[Entry]) -> Iterator[tuple[int, str, int]]:
    """The offsets that groups committed, in entries of ``__consumer_offsets``: (offset in the log, group, committed offset).

    Raises:
        BadBatchError: records are damaged.
    """
    for entry in entries:
        if is_control(entry.raw):
            continue
        for offset, (key, value) in enumerate(records_of(entry.raw), entry.base):
            if key is not None and value is not None and _VERSION.unpack_from(key)[0] in OF_A_COMMIT:
                begin = _VERSION.size + _LENGTH.size
                group = key[begin : begin + _LENGTH.unpack_from(key, _VERSION.size)[0]].decode(errors="replace")
                yield offset, group, _OFFSET.unpack_from(value, _VERSION.size)[0]
