"""`committed-cut`: a server cut from its log what it knew to be committed. Once a server, and not after a disk was lost or damaged.

An entry that is committed is in the log of every later leader, so that nothing which a leader sends or asks can contradict it
(Raft, section 5.4.3); the server was counted as one that has the entry, and clients may have been shown it. One failure elsewhere
before the server has it again may lose it. Implementations stop dead where they come to this.
Not where a rule has servers cut to a high watermark that may lie behind their own (the meta line's `cuts_committed`).

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(isr=False, contract="majority", trace=[
...     (10, 2, "append", "t-0", 0, 1, (7, 8)),
...     (20, 2, "hw", "t-0", 1, 1, False),
...     (30, 2, "truncate", "t-0", 0, 2, "another term", 2),
... ]))
>>> print(verdict.named("committed-cut")[0].message)
Broker 2 cut its log of t-0 from 2 to 0 at 0.000030 s, though it knew all below 1 to be committed: record 7 of epoch 1 goes.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.checkers.history.trace_events import KIND, TIME, Stop, TraceEvent, Truncate
from tidemark.checkers.replicas.finder import Finder
from tidemark.checkers.replicas.replayed_replica import Removal, ReplayedReplica
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "committed-cut"
_FORGETS = frozenset({"disk", "damage"})


class CommittedCut(Finder):
    """Looks at what servers truncate."""

    def __init__(self, trace: Sequence[TraceEvent]) -> None:
        super().__init__()
        self._trace = trace
        self._forgotten = False

    def on_stop(self, index: int, event: Stop) -> None:
        """Who has forgotten what is committed may lead, and contradict it."""
        self._forgotten = self._forgotten or event.how in _FORGETS

    def on_removed(self, index: int, replica: ReplayedReplica, removal: Removal) -> None:
        """A log was cut."""
        event, to, hw = self._trace[index], removal.to, replica.hw
        if self._forgotten or event[KIND] != Truncate.kind or to >= hw:
            return
        node, partition = replica.node, replica.partition
        if not self.is_new((partition, node)):
            return
        epoch, value = removal.records[0]
        message = (
            f"Broker {node} cut its log of {partition} from {to + len(removal.records)} to {to} at {seconds(event[TIME])}, though "
            f"it knew all below {hw} to be committed: record {value} of epoch {epoch} goes."
        )
        evidence = {"node": node, "to": to, "hw": hw, "record": removal.records[0], "trace_index": index}
        self.anomalies.append(Anomaly(NAME, VIOLATION, event[TIME], partition, message, evidence=evidence))
