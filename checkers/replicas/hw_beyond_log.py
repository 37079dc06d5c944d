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

from tidemark.checkers.history.trace_events import TIME, Final, TraceEvent
from tidemark.checkers.replicas.finder import Finder
from tidemark.checkers.replicas.replayed_replica import ReplayedReplica
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "hw-beyond-log"


class HwBeyondLog(Finder):
    """Compares the high watermarks of all replicas with their logs."""

    def on_hw_beyond(self, index: int, event: TraceEvent, replica: ReplayedReplica) -> None:
        """It moved there."""
        hw, leo = replica.hw, len(replica.records)
        self._tell(index, event, replica, hw, leo, f"moved to {hw} at {seconds(event[TIME])}, but its log ended")

    def on_final(self, index: int, event: Final, replica: ReplayedReplica) -> None:
        """How it ended."""
        if event.hw > event.leo:
            self._tell(index, event, replica, event.hw, event.leo, f"is {event.hw} in the end, but its log ends")

    def _tell(self, index: int, event: TraceEvent, replica: ReplayedReplica, hw: int, leo: int, words: str) -> None:
        if not self.is_new((replica.partition, replica.node)):
            return
        message = f"The high watermark of broker {replica.node} for {replica.partition} {words} at {leo}."
        evidence = {"node": replica.node, "hw": hw, "leo": leo, "trace_index": index}
        self.anomalies.append(Anomaly(NAME, VIOLATION, event[TIME], replica.partition, message, evidence=evidence))
