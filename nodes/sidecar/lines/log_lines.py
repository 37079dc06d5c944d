"""Lines of a broker's logs: loaded, created, appended to, cut; their high watermarks and log starts."""

from __future__ import annotations

import re
from collections.abc import Callable

from tidemark.nodes.sidecar.line_events import (
    Appended,
    Event,
    HighWatermark,
    Loaded,
    LogDirOffline,
    LogStart,
    Truncated,
    TruncatedFully,
)
from tidemark.nodes.sidecar.lines import move_lines, removal_lines
from tidemark.nodes.sidecar.lines.known_replicas import KnownReplica, KnownReplicas
from tidemark.nodes.sidecar.lines.reasons import FULLY, NO_REASON
from tidemark.nodes.sidecar.lines.stamp import Head

_OF = re.compile(r"\[(?:Unified)?Log partition=([^,\s]+), dir=([^\]]*)")
_APPENDED = re.compile(
    r"Appended message set with last offset: -?\d+, first offset: (?:Some\()?(?:\(offset=)?(None|\d+)\b.*?,"
    r" next offset: (\d+), "
)
_HIGH_WATERMARK = re.compile(r"Setting high watermark \(offset=(\d+)[ ,]")
_TRUNCATING = re.compile(r"Truncating to offset (\d+)$")
_FULLY = re.compile(r"Truncate and start at offset (\d+)(?:,|$)")
_LOG_START = re.compile(r"Incremented log start offset to (\d+) due to (.+)$")
_HOW = {
    "client delete records request": "delete-records",
    "leader offset increment": "leader",
    "segment deletion": "retention",
}
_LOADED = re.compile(
    r"Completed load of Log\(dir=([^,]+),.*? topic=([^,]+), partition=(\d+), highWatermark=\d+,.*? logStartOffset=(\d+),"
    r" logEndOffset=(\d+)\)"
)
_CREATED = re.compile(r"Created log for partition (\S+) in (\S+)")
_OFFLINE = re.compile(r"Stopping serving logs in dir (\S+)$")
_METADATA = "__cluster_metadata-0"


def read(replicas: KnownReplicas, head: Head) -> list[Event]:
    """Lines of ``kafka.log.Log``, and of the ``UnifiedLog`` that took its place."""
    bracket, _, message = head.message.partition("] ")
    reader = _BY_WORD.get(message[: message.find(" ")])
    if reader is None:
        return []
    of = _OF.match(bracket)
    if of is None or of[1] == _METADATA:
        return []
    replica = replicas[of[1]]
    return [] if replica.directory not in ("", of[2]) else reader(replica, message)


def _appended(replica: KnownReplica, message: str) -> list[Event]:
    found = _APPENDED.match(message)
    if found is None:
        return []
    first = replica.leo if found[1] == "None" else int(found[1])
    replica.leo = int(found[2])
    return [Appended(replica.name, first, replica.leo)]


def _high_watermark(replica: KnownReplica, message: str) -> list[Event]:
    found = _HIGH_WATERMARK.match(message)
    if found is None or int(found[1]) == replica.hw:
        return []
    replica.hw = int(found[1])
    return [HighWatermark(replica.name, replica.hw, replica.leading)]


def _truncating(replica: KnownReplica, message: str) -> list[Event]:
    """The cut is made after the line; ``Truncating to 20 has no effect`` ends what was to be done."""
    reason, replica.reason = replica.reason or NO_REASON, ""
    found = _TRUNCATING.match(message)
    if found is None:
        return []
    replica.leo = min(replica.leo, int(found[1]))
    return [Truncated(replica.name, int(found[1]), reason, replica.leader_epoch)]


def _fully(replica: KnownReplica, message: str) -> list[Event]:
    found = _FULLY.match(message)
    if found is None:
        return []
    reason, replica.reason = replica.reason or FULLY, ""
    replica.leo = int(found[1])
    return [TruncatedFully(replica.name, replica.leo, reason)]


def _log_start(replica: KnownReplica, message: str) -> list[Event]:
    found = _LOG_START.match(message)
    how = _HOW.get(found[2]) if found is not None else None
    return [LogStart(replica.name, int(found[1]), how)] if found is not None and how is not None else []


_BY_WORD: dict[str, Callable[[KnownReplica, str], list[Event]]] = {
    "Appended": _appended,
    "Setting": _high_watermark,
    "Truncating": _truncating,
    "Truncate": _fully,
    "Incremented": _log_start,
}


def read_manager(replicas: KnownReplicas, head: Head) -> list[Event]:
    """Lines of ``kafka.log.LogManager``."""
    for read_others in (removal_lines.read, move_lines.read):
        of_no_replica = read_others(replicas, head.message)
        if of_no_replica is not None:
            return of_no_replica
    found = _LOADED.search(head.message)
    if found is not None:
        replica = replicas[f"{found[2]}-{found[3]}"]
        replica.directory, replica.leo = move_lines.log_directory(found[1]), int(found[5])
        return [Loaded(replica.name, replica.leo, int(found[4]))]
    found = _OFFLINE.match(head.message)
    if found is not None:
        return [LogDirOffline(found[1])]
    found = _CREATED.match(head.message)
    if found is not None:
        replica = replicas[found[1]]
        replica.directory, replica.leo, replica.hw = move_lines.log_directory(found[2]), 0, -1
        return [Loaded(replica.name, 0)]
    return []
