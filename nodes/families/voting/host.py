"""What a member of a voting group needs of the process it lives in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from tidemark.nodes.core.actions import Action
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
