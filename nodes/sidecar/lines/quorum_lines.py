"""Lines of ``org.apache.kafka.raft``: who leads a quorum of controllers, who votes, and how far its log is committed."""

from __future__ import annotations

import re

from tidemark.nodes.sidecar.line_events import Event, MetadataCommitted, QuorumRole, VotersRead
from tidemark.nodes.sidecar.lines.known_replicas import KnownReplicas
from tidemark.nodes.sidecar.lines.stamp import Head

LEVELS = {"org.apache.kafka.raft.FollowerState": "trace", "org.apache.kafka.raft.LeaderState": "debug"}
"""Else they tell of the first high watermark in an epoch only."""

_ROLE = re.compile(r"Completed transition to (\w+)\(.*?\bepoch=(\d+)\b")
_COMMITTED = re.compile(r"High watermark set to (?:Optional\[)?LogOffsetMetadata\(offset=(\d+)\b")
_VOTERS = re.compile(r"Latest set of voters is VoterSet\((.*)\) at offset (-?\d+)$")
_VOTER = re.compile(r"\bReplicaKey\(id=(\d+)\b")
_LEADER = frozenset({"Leader", "LeaderState"})


def read(_replicas: KnownReplicas, head: Head) -> list[Event]:
    """A line's events."""
    found = _COMMITTED.search(head.message)
    if found is not None:
        return [MetadataCommitted(int(found[1]))]
    found = _ROLE.search(head.message)
    return [] if found is None else [QuorumRole(int(found[2]), found[1] in _LEADER)]


def read_voters(_replicas: KnownReplicas, head: Head) -> list[Event]:
    """A line's events."""
    found = _VOTERS.search(head.message)
    if found is None:
        return []
    return [VotersRead(int(found[2]), tuple(sorted(map(int, _VOTER.findall(found[1])))))]
