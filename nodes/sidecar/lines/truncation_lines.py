"""Lines of ``kafka.server.ReplicaFetcherThread``: why a follower is about to cut its log, and what went wrong.

That it was cut, and where, is said by the log itself (:mod:`~tidemark.nodes.sidecar.lines.log_lines`).
"""

from __future__ import annotations

import re

from tidemark.nodes.sidecar.line_events import Event, Refused
from tidemark.nodes.sidecar.lines import reasons
from tidemark.nodes.sidecar.lines.known_replicas import KnownReplicas
from tidemark.nodes.sidecar.lines.stamp import Head

_LOCAL_HW = re.compile(
    r"Truncating partition (\S+) (?:with TruncationState\(.*?\) due )?to local high watermark -?\d+$"
)
_UNKNOWN_OFFSET = re.compile(r"leader replied with an unknown offset in (\S+)\. The initial fetch offset")
_NO_EPOCH = re.compile(r"The leader's offset (-?\d+) will be used for truncation in (\S+)\.$")
_UNKNOWN_EPOCH = re.compile(
    r"leader replied with epoch (\d+) unknown to the replica for (\S+)\. Will truncate to \d+ and"
)
_BELOW_ALL = re.compile(
    r"leader replied with epoch \d+ below any replica's tracked epochs for (\S+)\. The leader's offset only (\d+) will"
)
_RESET_TO_END = re.compile(r"Reset fetch offset for partition (\S+) from \d+ to current leader's latest offset (\d+)$")
_RESET_TO_START = re.compile(
    r"[Rr]eset fetch offset for partition (\S+) from \d+ to (?:the )?current leader's start offset (\d+)(?: because .*)?$"
)
_REFUSED = re.compile(
    r"(?:Unexpected error occurred (?:while processing data|during truncation) for|Found invalid messages during fetch for"
    r"|Error while processing data for|Failed to truncate|Partition) (?:partition )?([^\s:]+-\d+)\b(.*)"
)


def read(replicas: KnownReplicas, head: Head) -> list[Event]:
    """Remember the reason of a cut that follows; a failure is an event."""
    message = head.message
    if head.level in {"TRACE", "DEBUG"}:
        return []
    if not (_remember_cut(replicas, message) or _remember_answer(replicas, message)) and head.level != "INFO":
        found = _REFUSED.search(message)
        if found is not None:
            return [Refused(found[1], message.partition("] ")[2] or message)]
    return []


def _remember_cut(replicas: KnownReplicas, message: str) -> bool:
    """The line names the cut itself."""
    if found := _LOCAL_HW.search(message):
        replicas[found[1]].reason = reasons.LOCAL_HW
    elif found := _RESET_TO_END.search(message):
        replicas[found[1]].reason = reasons.out_of_range(int(found[2]))
    elif found := _RESET_TO_START.search(message):
        replicas[found[1]].reason = reasons.below_leaders_start(int(found[2]))
    else:
        return False
    return True


def _remember_answer(replicas: KnownReplicas, message: str) -> bool:
    """The line judges the leader's answer."""
    if found := _UNKNOWN_OFFSET.search(message):
        replicas[found[1]].reason = reasons.UNKNOWN_EPOCH
    elif found := _NO_EPOCH.search(message):
        replicas[found[2]].reason = reasons.to_leaders_offset(int(found[1]))
    elif found := _UNKNOWN_EPOCH.search(message):
        replicas[found[2]].reason = reasons.below_unknown_epoch(int(found[1]))
    elif found := _BELOW_ALL.search(message):
        replicas[found[1]].reason = reasons.to_leaders_offset(int(found[2]))
    else:
        return False
    return True
