"""Who belongs to a group at each moment, where that changes: by the entries of a log that say so (event `members`).

A server goes by the newest configuration in its own log, committed or not. An entry is known by its offset and epoch, so the log
alone says which configurations a server has, whoever told of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.checkers.replicas.replayed_replica import ReplayedReplica, ReplayedReplicas


def group_of(replicas: ReplayedReplicas, replica: ReplayedReplica, first: Sequence[int]) -> Sequence[int]:
    """The members of its group in a replica's eyes; `first` are those of the beginning."""
    records = replica.records
    for offset, epoch, members in reversed(replicas.configurations.get(replica.partition, ())):
        if offset < len(records) and records[offset][0] == epoch:
            return members
    return first
