"""`metadata-divergence` and `two-controllers`: what a quorum of controllers (KIP-595) must not do.

`metadata-divergence`: two nodes' metadata logs differ below both their high watermarks, or a snapshot names another epoch for the
record before its end than a log that has it. Once for each pair. A node that is a broker only has a copy, too.

`two-controllers`: two nodes were the active controller in one epoch. Once for each epoch.

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(trace=[
...     (10, 0, "controls", "", 4), (20, 1, "controls", "", 4),
...     (90, 0, "metadata-log", "", 0, 3, (), ((0, 2, 4, 111), (2, 3, 4, 222))),
...     (90, 1, "metadata-log", "", 0, 3, (), ((0, 2, 4, 111), (2, 3, 4, 333))),
... ]))
>>> for anomaly in verdict.anomalies:
...     print(anomaly.message)
Node 1 was the active controller of epoch 4 at 0.000020 s, which node 0 had been since 0.000010 s.
The metadata log of node 0 and that of node 1 differ at offset 2, below both their high watermarks (3 and 3): one has a batch up \
to 3 of epoch 4 (checksum 222), the other a batch up to 3 of epoch 4 (checksum 333).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from tidemark.checkers.history.trace_events import KIND, Controls, MetadataLog, TraceEvent
from tidemark.checkers.replicas.copies_of_a_log import difference
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

DIVERGENCE = "metadata-divergence"
TWO_CONTROLLERS = "two-controllers"
_KINDS = frozenset({Controls.kind, MetadataLog.kind})


def metadata_divergence(events: Iterable[TraceEvent]) -> Iterator[Anomaly]:
    """Both anomalies of a run with these events."""
    events = [event for event in events if event[KIND] in _KINDS]
    yield from _two_controllers(events)
    for one, other in combinations(MetadataLog.among(events), 2):
        words = difference("metadata log", one, other) or _wrong_epoch(one, other) or _wrong_epoch(other, one)
        if words:
            evidence = {"nodes": [one.node, other.node]}
            yield Anomaly(DIVERGENCE, VIOLATION, max(one.time, other.time), "", words, evidence=evidence)


def _two_controllers(events: Iterable[TraceEvent]) -> Iterator[Anomaly]:
    first: dict[int, Controls] = {}
    told: set[int] = set()
    for event in Controls.among(events):
        epoch = event.controller_epoch
        before = first.setdefault(epoch, event)
        if before.node != event.node and epoch not in told:
            told.add(epoch)
            words = (
                f"Node {event.node} was the active controller of epoch {epoch} at {seconds(event.time)}, which node {before.node} "
                f"had been since {seconds(before.time)}."
            )
            evidence = {"controller": event.node, "before": before.node, "epoch": epoch, "since": before.time}
            yield Anomaly(TWO_CONTROLLERS, VIOLATION, event.time, "", words, evidence=evidence)


def _wrong_epoch(snapshots: MetadataLog, log: MetadataLog) -> str:
    """How a snapshot of one node contradicts the other's log."""
    for end, epoch in snapshots.snapshots:
        has = next((of for base, after, of, _ in log.entries if base < end <= after and end <= log.hw), epoch)
        if has != epoch:
            return (
                f"Node {snapshots.node} has a snapshot of the metadata log up to offset {end} and epoch {epoch}, and the log of "
                f"node {log.node} has epoch {has} there."
            )
    return ""
