"""`entry-matching`: two logs have an entry with the same index and generation, and are not the same up to there.

Raft's *log matching* (figure 3: "if two logs contain an entry with the same index and term, then the logs are identical in all
entries up through the given index"). The anomaly `log-matching` is Kafka's property of that name. Once for each server.

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(isr=False, contract="majority", trace=[
...     (10, 1, "append", "t-0", 0, 1, (7,)),
...     (20, 1, "append", "t-0", 1, 2, (9,)),
...     (30, 2, "append", "t-0", 0, 1, (8,)),
...     (40, 2, "append", "t-0", 1, 2, (9,)),
... ]))
>>> print(verdict.anomalies[0].message)
Brokers 1 and 2 both have an entry of epoch 1 at offset 0 of t-0 (0.000030 s), but their logs differ up to there.
"""

from __future__ import annotations

from tidemark.checkers.history.trace_events import TraceEvent
from tidemark.checkers.replicas.finder import Finder
from tidemark.checkers.replicas.replayed_replica import ReplayedReplica
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "entry-matching"


class EntryMatching(Finder):
    """Remembers of each last entry of a batch which log led up to it."""

    def __init__(self) -> None:
        super().__init__()
        self._links: dict[tuple[str, int, int], tuple[int, int]] = {}

    def on_append(self, index: int, event: TraceEvent, replica: ReplayedReplica) -> None:
        """The same entry, the same log."""
        time, node, _, partition, _, epoch, _ = event  # with each batch
        end = len(replica.chain) - 1
        other, link = self._links.setdefault((partition, end, epoch), (node, replica.chain[end]))
        if link == replica.chain[end] or not self.is_new((partition, node)):
            return
        message = (
            f"Brokers {other} and {node} both have an entry of epoch {epoch} at offset {end - 1} of {partition} ({seconds(time)}), "
            f"but their logs differ up to there."
        )
        evidence = {"nodes": [other, node], "epoch": epoch, "offset": end - 1, "trace_index": index}
        self.anomalies.append(Anomaly(NAME, VIOLATION, time, partition, message, evidence=evidence))
