"""KRaft's metadata log: the partition ``__cluster_metadata-0``, whose records say how the cluster changes.

The folder holds segments ``OFFSET.log`` of record batches, and now and then a snapshot ``OFFSET-EPOCH.checkpoint``, which has the
same form and stands for all records before that offset. A record's value is a frame version (1), the kind of record and its
version, each as an unsigned varint, and the record in the flexible format.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from struct import error
from typing import NamedTuple

from crc32c import crc32c

from tidemark.nodes.formats.control_records import VOTERS
from tidemark.nodes.formats.partition_files import METADATA_SNAPSHOT
from tidemark.nodes.formats.record_batch import HEADER_SIZE, Header, read_header, records_of
from tidemark.nodes.sidecar.controller.flexible_reader import FlexibleReader
from tidemark.nodes.sidecar.controller.growing_files import GrowingFiles, Used

_SEGMENT = re.compile(r"(\d{20})\.log")
_CONTROL = 0x20
_SUM_FROM = 21
_FRAME_VERSION = 1
_PLAUSIBLE = 64 << 20
OF_VOTERS = -6
"""In the place of a record's kind: the ``VotersRecord`` of a quorum whose voters can change (KIP-853), which is no record of the
controllers, but of the log. Other control records are passed over."""


class MetadataRecord(NamedTuple):
    """One record.

    Attributes:
        offset: its place in the log; of a record of a snapshot, the snapshot's.
        time_ms: since 1970, by the controller's clock.
        kind, version: which record it is, and in which version.
        body: what it says.
        seen_us: between these two looks at the log it was found there; CLOCK_MONOTONIC, 0 where there was no look before.
        condensed: it is of a snapshot, and says what many records come to.
    """

    offset: int
    time_ms: int
    kind: int
    version: int
    body: FlexibleReader
    seen_us: tuple[int, int] = (0, 0)
    condensed: bool = False


class MetadataLog:
    """Reads the records of a metadata log from its beginning, or from a snapshot if the beginning is gone, and on while it grows.

    Args:
        folder: ``__cluster_metadata-0`` in a controller's log directory; need not be there yet.
        committed: up to which offset to read. What lies behind that may be truncated, where there are several controllers.

    Attributes:
        next: up to which offset it was read.
    """

    def __init__(self, folder: Path, committed: Callable[[], int] | None = None) -> None:
        self._folder = folder
        self._committed = committed
        self._files = GrowingFiles(folder, _base_offset)
        self.next = 0
        self._misses = False
        """Whether a batch was found that does not follow the last."""
        self._looked_us = self._looks_us = 0
        self._seen: dict[tuple[int, int], tuple[int, int]] = {}
        """(Base offset, sum) of batches that are there and not read → between which looks they came."""
        self._found: list[MetadataRecord] = []

    def poll(self) -> list[MetadataRecord]:
        """The records since the last call, in order. A batch that is written only in part comes later.

        Raises:
            OSError: a file that is there cannot be read.
        """
        self._looked_us, self._looks_us = self._looks_us, time.monotonic_ns() // 1000
        self._begin_with_snapshot()
        self._files.read(self._consume)
        found, self._found = self._found, []
        return found

    def _begin_with_snapshot(self) -> None:
        """Where the log does not go back to what comes next, a snapshot stands for what is missing."""
        segments = self._files.files()
        if not segments or (not self._misses and (self._files.current in segments or min(segments) <= self.next)):
            return
        snapshots = GrowingFiles(self._folder, _end_offset).files()
        ends = [end for end in snapshots if end >= min(segments) and end > self.next]
        if ends:
            end = max(ends)
            self._consume(0, snapshots[end].read_bytes(), snapshot=end)
            self.next = end
            self._misses = False
            self._files.start_at(max(base for base in segments if base <= end))

    def _consume(self, _place: int, data: bytes, snapshot: int | None = None) -> Used:
        at = 0
        while len(data) - at >= HEADER_SIZE:
            header = read_header(data, at)
            if header.magic != 2 or not HEADER_SIZE - 12 <= header.length <= _PLAUSIBLE:
                break
            if at + header.size > len(data):
                return Used(at, header.size)
            raw = data[at : at + header.size]
            if crc32c(raw[_SUM_FROM:]) != header.crc:
                break
            if self._committed is not None and snapshot is None:
                self._seen.setdefault((header.base_offset, header.crc), (self._looked_us, self._looks_us))
                # A log that is replaced by a snapshot while it is read goes on behind what that stands for.
                self._misses = header.base_offset > self.next
                if self._misses or header.base_offset + header.last_offset_delta >= self._committed():
                    return Used(at, waits=True)
            self._add(header, raw, snapshot)
            at += header.size
        return Used(at)

    def _add(self, header: Header, raw: bytes, snapshot: int | None) -> None:
        base = header.base_offset
        if snapshot is None:
            if base < self.next:
                return
            self.next = base + header.last_offset_delta + 1
        control = header.attributes & _CONTROL
        seen = self._seen.pop((base, header.crc), (0, 0))
        for delta, (key, value) in enumerate(records_of(raw)):
            offset = base + delta if snapshot is None else snapshot
            if not control:
                record = _record(value or b"", offset, header.base_timestamp)
            elif key == VOTERS:
                record = MetadataRecord(offset, header.base_timestamp, OF_VOTERS, 0, FlexibleReader(value or b""))
            else:
                continue
            if record is not None:
                self._found.append(record._replace(seen_us=seen, condensed=snapshot is not None))


def _record(value: bytes, offset: int, time_ms: int) -> MetadataRecord | None:
    body = FlexibleReader(value)
    try:
        frame, kind, version = body.unsigned(), body.unsigned(), body.unsigned()
    except (error, LookupError):
        return None
    return MetadataRecord(offset, time_ms, kind, version, body) if frame == _FRAME_VERSION else None


def _base_offset(name: str) -> int | None:
    match = _SEGMENT.fullmatch(name)
    return int(match[1]) if match else None


def _end_offset(name: str) -> int | None:
    match = METADATA_SNAPSHOT.fullmatch(name)
    return int(match[1]) if match else None
