"""`hw-beyond-log`: a replica's high watermark moves beyond the end of its log: it takes for committed what it does not have.

Once per replica; and for its final log. No promise permits it.

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(trace=[
...     (10, 1, "append", "t-0", 0, 1, (7,)),
...     (20, 1, "hw", "t-0", 2, 1, False),
... ]))
>>> print(verdict.anomalies[0].message)
The high watermark of broker 1 for t-0 moved to 2 at 0.000020 s, but its log ended at 1.
"""

from __future__ import annotations

from tidemark.checkers.history.history import TraceEvent
from tidemark.checkers.replicas.replica_state import ReplayedReplica, TraceChecker
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "hw-beyond-log"


class HwBeyondLog(TraceChecker):
    """Compares the high watermarks of all replicas with their logs."""

    def __init__(self) -> None:
        self.anomalies: list[Anomaly] = []
        self._told: set[tuple[str, int]] = set()

    def on_hw_beyond(self, index: int, event: TraceEvent, replica: ReplayedReplica) -> None:
        """It moved there."""
        self._tell(index, event, replica, event[4], f"moved to {event[4]} at {seconds(event[0])}, but its log ended")

    def on_final(self, index: int, event: TraceEvent, replica: ReplayedReplica) -> None:
        """How it ended."""
        if event[7] > event[6]:
            self._tell(index, event, replica, event[7], f"is {event[7]} in the end, but its log ends")

    def _tell(self, index: int, event: TraceEvent, replica: ReplayedReplica, hw: int, words: str) -> None:
        if (replica.partition, replica.node) in self._told:
            return
        self._told.add((replica.partition, replica.node))
        leo = event[6] if event[2] == "final" else len(replica.records)
        message = f"The high watermark of broker {replica.node} for {replica.partition} {words} at {leo}."
        evidence = {"node": replica.node, "hw": hw, "leo": leo, "trace_index": index}
        self.anomalies.append(Anomaly(NAME, VIOLATION, event[0], replica.partition, message, evidence=evidence))
