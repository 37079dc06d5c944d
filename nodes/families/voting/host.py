"""What a member of a group is given when it begins, and what it needs of the process it lives in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.nodes.core.actions import Action
    from tidemark.nodes.core.recovery import Recovered
    from tidemark.nodes.core.settings import Settings


class Host(Protocol):
    """The process.

    Attributes:
        node_id, incarnation: which server this is, and its how-manieth start.
        variant: of the family. settings: the cluster's.
        out: where actions go, in order.
        clock_drift_ppm: by how much the clocks of two servers may differ in speed; 0 where time is simulated.
    """

    node_id: int
    incarnation: int
    variant: Any
    settings: Settings
    out: list[Action]
    clock_drift_ppm: int


class Seat(NamedTuple):
    """Where a member begins: a partition of a process that starts.

    Attributes:
        host: the process. name: of the partition. replicas: of the partition, at the beginning.
        recovered: what the disk gave back, of all partitions.
    """

    host: Host
    name: str
    replicas: Sequence[int]
    recovered: Recovered
