"""A checker that goes through the trace with the others, and finds anomalies."""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.checkers.replicas.lost_committed_write import LostWrites
from tidemark.checkers.replicas.trace_checker import TraceChecker
from tidemark.checkers.verdict.verdict import Anomaly


class Finder(TraceChecker):
    """What `anomalies` it has found by the end of the trace is judged then, with the `losses` of the run."""

    def __init__(self) -> None:
        self.anomalies: list[Anomaly] = []

    def judged(self, losses: LostWrites) -> Sequence[Anomaly]:
        """The anomalies, now that it is known how the loss of a record is to be taken."""
        return self.anomalies
