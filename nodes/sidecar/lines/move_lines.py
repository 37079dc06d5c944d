"""Lines of ``kafka.log.LogManager`` about replicas that are moved from one log directory to another (KIP-113).

A *future* log, ``t-0.UUID-future``, copies the replica's log, and takes its place when both end at the same offset. With KRaft
(since 3.7, KIP-858) a broker that starts, and finds that the controller has its replica in the directory of the future log, makes
that the replica's log at once, wherever it ends.
"""

from __future__ import annotations

import re

from tidemark.nodes.sidecar.line_events import Event, Loaded, Truncated
from tidemark.nodes.sidecar.lines.known_replicas import KnownReplicas
from tidemark.nodes.sidecar.lines.reasons import PROMOTED

_LOG = r"Log\(dir=([^,]+),.*? topic=([^,]+), partition=(\d+), .*?logStartOffset=(\d+), logEndOffset=(\d+)\)"
_FUTURE = re.compile(r"(?:Created log for partition \S+ in \S+-future\b|Completed load of Log\(dir=[^,]+-future,)")
_REPLACED = re.compile(rf"Attempting to replace current log Log\(.*\) with {_LOG} for \S+$")
_PROMOTED = re.compile(rf"Attempting to recover abandoned future log for \S+ at {_LOG}( and removing )?")


def log_directory(log: str) -> str:
    """The log directory in which a partition's directory lies.

    >>> log_directory("/data/first/t-0")
    '/data/first'
    """
    return log.rpartition("/")[0]


def read(replicas: KnownReplicas, message: str) -> list[Event] | None:
    """A line's events; None if it is about something else. Once the future log has taken its place,
    lines of its directory are about the replica.
    """
    if _FUTURE.match(message):
        return []
    found = _REPLACED.match(message)
    if found is not None:
        replicas[f"{found[2]}-{found[3]}"].directory = log_directory(found[1])
        return []
    found = _PROMOTED.match(message)
    if found is None:
        return None
    replica = replicas[f"{found[2]}-{found[3]}"]
    before, replica.directory, replica.leo = replica.leo, log_directory(found[1]), int(found[5])
    if found[6] is None:
        return [Loaded(replica.name, replica.leo, int(found[4]))]
    return [Truncated(replica.name, replica.leo, PROMOTED, replica.leader_epoch)] if replica.leo < before else []
