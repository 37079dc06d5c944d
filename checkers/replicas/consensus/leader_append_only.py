"""`leader-append-only`: a leader overwrote or cut entries of its own log (Raft, figure 3). Once in a reign.

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(isr=False, contract="majority", trace=[
...     (10, 1, "lead", "t-0", 1, 0, 0, ()),
...     (20, 1, "append", "t-0", 0, 1, (7, 8)),
...     (30, 1, "truncate", "t-0", 1, 2, "another term", 1),
... ]))
>>> print(verdict.anomalies[0].message)
Broker 1 leads t-0 in epoch 1, and cut its log from 2 to 1 at 0.000030 s.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.checkers.history.trace_events import TIME, TraceEvent
from tidemark.checkers.replicas.finder import Finder
from tidemark.checkers.replicas.replayed_replica import Removal, ReplayedReplica
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "leader-append-only"


class LeaderAppendOnly(Finder):
    """Looks at what leaves the logs of leaders."""

    def __init__(self, trace: Sequence[TraceEvent]) -> None:
        super().__init__()
        self._trace = trace

    def on_removed(self, index: int, replica: ReplayedReplica, removal: Removal) -> None:
        """A log was cut."""
        node, partition, epoch = replica.node, replica.partition, replica.epoch
        if not replica.leading or not self.is_new((partition, node, epoch)):
            return
        time, to, before = self._trace[index][TIME], removal.to, removal.to + len(removal.records)
        message = f"Broker {node} leads {partition} in epoch {epoch}, and cut its log from {before} to {to} at {seconds(time)}."
        evidence = {"leader": node, "leader_epoch": epoch, "to": to, "old_leo": before, "trace_index": index}
        self.anomalies.append(Anomaly(NAME, VIOLATION, time, partition, message, evidence=evidence))
