"""How a partition stands where there is no controller to ask: what the replicas say, put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tidemark.harness.runs.group import ServerView, state_of_group, view_of_status


def state_among(
    partition: str, replicas: Sequence[int], statuses: Mapping[int, Mapping[str, Any] | None]
) -> dict[str, Any]:
    """What a controller's status says of a partition, by what its replicas say of themselves.

    Who leads is who says so with the highest generation. All replicas are called in sync, since none is ever put out.

    Args:
        partition: its name.
        replicas: the preferred leader first; where members change, those that an operator wants.
        statuses: broker → what it says of itself, None if it says nothing.
    """
    servers = servers_among(partition, statuses)
    if servers:
        state = state_of_group(partition, tuple(replicas), servers)
        return _as_said(state.leader, state.leader_epoch, state.replicas, state.adding, state.removing)
    leader = epoch = -1
    for broker in replicas:
        status = statuses.get(broker)
        said = status["partitions"].get(partition) if status else None
        if said is not None and said["role"] == "leader" and said["leader_epoch"] > epoch:
            leader, epoch = broker, said["leader_epoch"]
    return _as_said(leader, epoch, replicas)


def servers_among(partition: str, statuses: Mapping[int, Mapping[str, Any] | None]) -> list[ServerView]:
    """The servers of a group whose members change, as far as they say something; none of another family's."""
    said = {node: status.get("partitions", {}).get(partition) for node, status in statuses.items() if status}
    return [view_of_status(node, replica) for node, replica in said.items() if replica and "members" in replica]


def _as_said(
    leader: int, epoch: int, replicas: Sequence[int], adding: Sequence[int] = (), removing: Sequence[int] = ()
) -> dict[str, Any]:
    return {
        "leader": leader,
        "last_leader": leader,
        "leader_epoch": epoch,
        "partition_epoch": epoch,
        "isr": list(replicas),
        "elr": [],
        "replicas": list(replicas),
        "adding": list(adding),
        "removing": list(removing),
    }
