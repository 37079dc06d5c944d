"""How a partition stands where there is no controller to ask: what the replicas say, put together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def state_among(
    partition: str, replicas: Sequence[int], statuses: Mapping[int, Mapping[str, Any] | None]
) -> dict[str, Any]:
    """What a controller's status says of a partition, by what its replicas say of themselves.

    Who leads is who says so with the highest generation. All replicas are called in sync, since none is ever put out.

    Args:
        partition: its name.
        replicas: the preferred leader first; they never change.
        statuses: broker → what it says of itself, None if it says nothing.
    """
    leader = epoch = -1
    for broker in replicas:
        status = statuses.get(broker)
        said = status["partitions"].get(partition) if status else None
        if said is not None and said["role"] == "leader" and said["leader_epoch"] > epoch:
            leader, epoch = broker, said["leader_epoch"]
    members = list(replicas)
    return {
        "leader": leader,
        "last_leader": leader,
        "leader_epoch": epoch,
        "partition_epoch": epoch,
        "isr": members,
        "elr": [],
        "replicas": members,
        "adding": [],
        "removing": [],
    }
