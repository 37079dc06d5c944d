"""`coordinator-divergence`: at the end two brokers' copies of a coordinator's log (``__consumer_offsets``, ``__transaction_state``,
``__share_group_state``) differ below both their high watermarks. Once for each pair.

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(trace=[
...     (90, 1, "coordinator-log", "__consumer_offsets-0", 0, 3, ((0, 2, 4, 111), (2, 3, 4, 222)), ()),
...     (90, 2, "coordinator-log", "__consumer_offsets-0", 0, 3, ((0, 2, 4, 111), (2, 3, 5, 333)), ()),
... ]))
>>> for anomaly in verdict.anomalies:
...     print(anomaly.message)
The log of __consumer_offsets-0 of node 1 and that of node 2 differ at offset 2, below both their high watermarks (3 and 3): one \
has a batch up to 3 of epoch 4 (checksum 222), the other a batch up to 3 of epoch 5 (checksum 333).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from tidemark.checkers.history.trace_events import CoordinatorLog, TraceEvent
from tidemark.checkers.replicas.copies_of_a_log import difference
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly

NAME = "coordinator-divergence"


def coordinator_divergence(events: Iterable[TraceEvent]) -> Iterator[Anomaly]:
    """The anomalies of a run with these events."""
    for one, other in combinations(CoordinatorLog.among(events), 2):
        words = difference(f"log of {one.partition}", one, other) if one.partition == other.partition else ""
        if words:
            evidence = {"nodes": [one.node, other.node]}
            yield Anomaly(NAME, VIOLATION, max(one.time, other.time), one.partition, words, evidence=evidence)
