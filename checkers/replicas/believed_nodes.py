"""What is left of a run's evidence when that of some nodes cannot be relied on.

Such a node's own words are left out, but for when its process began and ended, which whoever runs it knows. What the others say of
themselves stands, and is enough for whatever was seen to happen among them: two leaders, logs that differ, a committed record that
a new leader does not have. It is not enough for what rests on something being nowhere, or on how many have it; so the run is never
*valid*, and its losses are judged as if the silent nodes had held every record.

Broker 3 is not believed, and brokers 1 and 2 differ:

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(doubted_nodes={"3": ["its file is torn"]}, trace=[
...     (10, 2, "append", "t-0", 0, 1, (8,)),
...     (20, 1, "lead", "t-0", 2, 0, 0, (1,)),
...     (30, 1, "append", "t-0", 0, 2, (9,)),
...     (40, 2, "fetched", "t-0", 2, 1),
... ]))
>>> verdict.valid, [anomaly.name for anomaly in verdict.anomalies]
('invalid', ['divergence'])
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from tidemark.checkers.history.history import History
from tidemark.checkers.history.trace_events import KIND, NODE, PARTITION, TIME, Elect, Lead, LogStart, TraceEvent
from tidemark.checkers.history.turning_points import turning_points
from tidemark.checkers.replicas.baselines import Loss
from tidemark.checkers.replicas.lost_committed_write import Fates
from tidemark.checkers.replicas.replayed_replica import ON_PURPOSE, TooSparseError
from tidemark.checkers.replicas.replica_run import ReplicaChecker, ReplicaRun, check_replicas
from tidemark.checkers.verdict.verdict import Anomaly

LEFT_OUT = "not-believed"
"""Stands for an event that is left out, so that the others keep their places in the trace."""

_LIVES = frozenset({"start", "stop"})


def without(trace: Sequence[TraceEvent], nodes: Collection[int]) -> list[TraceEvent]:
    """The trace, of the same length, without what some nodes say of their logs and leaderships."""
    return [
        (event[TIME], event[NODE], LEFT_OUT, event[PARTITION])
        if event[NODE] in nodes and event[KIND] not in _LIVES
        else event
        for event in trace
    ]


def has_believed(trace: Sequence[TraceEvent], doubted: Collection[int]) -> bool:
    """Whether anybody but the doubted nodes tells of a log or a leadership."""
    return any(event[NODE] not in doubted and event[KIND] in ("append", "lead") for event in trace)


def check_believed(
    history: History,
    doubted: dict[int, list[str]],
    own: str,
    fates: Fates,
    checkers: Iterable[ReplicaChecker],
    *,
    alone: bool = False,
) -> list[Anomaly]:
    """What can be said of a run whatever the doubted nodes did; `fates` receives how each lost record was judged.

    `doubted`: node → why. A node whose log cannot be kept joins them.
    """
    checkers = [checker for checker in checkers if checker.believed]
    points, reigns = turning_points(history.trace), _reigns(history.trace)

    def certain(loss: Loss) -> bool:
        return _certain(loss, reigns[loss.partition]) and loss.partition not in _deleted_by(history.trace, doubted)

    while True:
        run = ReplicaRun(history, points, own, alone=alone, trace=without(history.trace, doubted), silent=doubted)
        run.certain = certain
        try:
            anomalies = check_replicas(run, checkers)
        except TooSparseError as error:
            doubted[error.node] = [error.words]
        else:
            fates.update(run.losses.fates)
            return anomalies


_Reigns = tuple[list[int], list[int]]
"""Of a partition: trace indices at which a reign was told of, and the newest epoch as of each."""


def _reigns(trace: Sequence[TraceEvent]) -> dict[str, _Reigns]:
    """Who was told to lead, by anybody: a doubted node's word is enough to excuse."""
    reigns: dict[str, type[Elect | Lead]] = {Elect.kind: Elect, Lead.kind: Lead}
    found: defaultdict[str, _Reigns] = defaultdict(lambda: ([], []))
    for index, event in enumerate(trace):
        if event[KIND] in reigns:
            indices, newest = found[event[PARTITION]]
            indices.append(index)
            newest.append(max(reigns[event[KIND]](event).leader_epoch, newest[-1] if newest else -1))
    return found


def _certain(loss: Loss, reigns: _Reigns) -> bool:
    """A silent node may have led a newer epoch by then, or lead in the end, and have the record."""
    indices, newest = reigns
    before = bisect_left(indices, loss.destroyed)
    return loss.how != "end" and (before == 0 or newest[before - 1] <= loss.leader_epoch)


def _deleted_by(trace: Sequence[TraceEvent], nodes: Collection[int]) -> set[str]:
    """Partitions of which a doubted node says that records were deleted on purpose: nobody knows which."""
    return {moved.partition for moved in LogStart.among(trace) if moved.node in nodes and moved.how in ON_PURPOSE}
