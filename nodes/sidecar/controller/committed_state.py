"""What the committed records of a quorum's metadata log come to, on one of its nodes, and where in the log each decision stands."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import NamedTuple

from tidemark.nodes.sidecar.controller.decisions import Event
from tidemark.nodes.sidecar.controller.metadata_state import MetadataControllerLog


class CommittedDecision(NamedTuple):
    """One decision.

    Attributes:
        offset: of the record that says it. place: which of that record's decisions it is.
        wall_us: when it was logged, by the clock of whoever was the active controller.
        seen_us: see :class:`~tidemark.nodes.sidecar.controller.metadata_log.MetadataRecord`.
        event: see :data:`Event`.
    """

    offset: int
    place: int
    wall_us: int
    seen_us: tuple[int, int]
    event: Event


class CommittedControllerLog(MetadataControllerLog):
    """As its base class, but for one of several controllers, active or not. What a snapshot says is the state from then on, and no
    decision: others have read what it stands for.

    Args:
        folder, partitions: as there.
        committed: up to which offset the log is committed, as this node has heard.
        told: decisions before this offset were told by an earlier reader.
    """

    def __init__(
        self, folder: Path, partitions: Collection[str] | None, committed: Callable[[], int], told: int = 0
    ) -> None:
        super().__init__(folder, partitions, committed=committed)
        self._told = told

    @property
    def next(self) -> int:
        """Up to which offset the log was read."""
        return self._log.next

    def poll_committed(self) -> list[CommittedDecision]:
        """What was decided since the last call, in order.

        Raises:
            OSError: a file that is there cannot be read.
        """
        found: list[CommittedDecision] = []
        for record in self._log.poll():
            self._apply(record)
            decided = self._decisions.take()
            if not record.condensed and record.offset >= self._told:
                found += [
                    CommittedDecision(record.offset, place, one.wall_us, record.seen_us, one.event)
                    for place, one in enumerate(decided)
                ]
        return found
