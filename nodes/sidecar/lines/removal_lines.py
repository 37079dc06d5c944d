"""Lines of ``kafka.log.LogManager`` about logs of replicas that are no more.

The log of a replica that is removed gets another name, ``t-0.UUID-delete``, and is deleted later (``file.delete.delay.ms``). With
KRaft, a broker that was down meanwhile finds out when it starts: until 3.6 from the metadata, after it has loaded the log, and then
does the same; since 3.7 while it loads, and names it ``t-0.UUID-stray``. A future log (KIP-113) that is given up is deleted in the
same words. What already has such a name when a broker starts is
loaded as well, and no replica's log.
"""

from __future__ import annotations

import re

from tidemark.nodes.sidecar.line_events import Event, Loaded, Removed
from tidemark.nodes.sidecar.lines import move_lines
from tidemark.nodes.sidecar.lines.known_replicas import KnownReplica, KnownReplicas

_DELETED = re.compile(r"Log for partition (\S+) is renamed to (\S+)-delete and is scheduled for deletion$")
_ASTRAY = re.compile(r"Log in .+ marked stray and renamed to (.+-stray)$")
_LOADED_ASIDE = re.compile(
    r"Completed load of Log\(dir=([^,]+-(?:delete|stray)),.*? topic=([^,]+), partition=(\d+), .*?logStartOffset=(\d+),"
    r" logEndOffset=(\d+)\)"
)


def read(replicas: KnownReplicas, message: str) -> list[Event] | None:
    """A line's events; None if it is about something else."""
    found = _DELETED.match(message)
    if found is not None:
        replica = replicas[found[1]]
        elsewhere = replica.directory not in ("", move_lines.log_directory(found[2]))
        return [] if elsewhere else [_removed(replica)]
    found = _ASTRAY.match(message)
    if found is not None:
        replicas.astray.add(found[1])
        return []
    found = _LOADED_ASIDE.match(message)
    if found is None:
        return None
    if found[1] not in replicas.astray:
        return []
    replica = replicas[f"{found[2]}-{found[3]}"]
    return [Loaded(replica.name, int(found[5]), int(found[4])), _removed(replica)]


def _removed(replica: KnownReplica) -> Event:
    replica.directory = ""
    replica.leo, replica.hw, replica.leading, replica.leader_epoch = 0, -1, None, -1
    replica.announced, replica.isr, replica.maximal, replica.partition_epoch = (-1, -1), (), (), -1
    return Removed(replica.name)
