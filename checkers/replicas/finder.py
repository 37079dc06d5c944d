"""A checker that goes through the trace with the others, and finds anomalies."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from tidemark.checkers.replicas.lost_committed_write import LostWrites
from tidemark.checkers.replicas.replayed_replica import ReplayedReplicas
from tidemark.checkers.replicas.trace_checker import TraceChecker
from tidemark.checkers.verdict.verdict import Anomaly


class Finder(TraceChecker):
    """What `anomalies` it has found by the end of the trace is judged then, with the `losses` of the run."""

    _replicas: ReplayedReplicas

    def __init__(self) -> None:
        self.anomalies: list[Anomaly] = []
        self._told_of: set[Hashable] = set()

    def on_begin(self, replicas: ReplayedReplicas) -> None:
        """Remember where the replicas are found."""
        self._replicas = replicas

    def is_new(self, place: Hashable) -> bool:
        """Whether this is the first time that something is told of a place."""
        before = len(self._told_of)
        self._told_of.add(place)
        return len(self._told_of) > before

    def judged(self, losses: LostWrites) -> Sequence[Anomaly]:
        """The anomalies, now that it is known how the loss of a record is to be taken."""
        return self.anomalies
