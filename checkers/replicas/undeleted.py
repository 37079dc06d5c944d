"""`undeleted`: a broker that had shut down cleanly came back with an earlier log start, so deleted records are there again.

A broker writes its log starts to a checkpoint now and then, so a crash may take a deletion back. One that shuts down writes them
once more, and syncs them (``LogManager.shutdown``, ``checkpointLogStartOffsetsInDir``). A machine that lost its power or its disk
meanwhile is not judged, nor is a log that was removed.

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(replicas={"t-0": [1]}, trace=[
...     (10, 1, "log-start", "t-0", 5, 0, "delete-records"),
...     (20, 1, "stop", "", "clean"),
...     (30, 1, "start", "", 2),
...     (30, 1, "recovered", "t-0", 9, 9, 0),
...     (30, 1, "log-start", "t-0", 3, 0, "recovered"),
... ]))
>>> print([one.message for one in verdict.anomalies if one.name == "undeleted"][0])
Broker 1 shut down cleanly at 0.000020 s, when its log of t-0 began at offset 5, and came back at 0.000030 s with one that began \
at 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tidemark.checkers.history.history import NemesisOp
from tidemark.checkers.history.trace_events import KIND, NODE, PARTITION, TIME, LogStart, Stop, TraceEvent, Truncate
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "undeleted"
_TAKES_BACK = ("power", "container")
"""How the kinds begin that may take back what a stopped machine had written."""


class _Owed(NamedTuple):
    """Where a log began when its broker shut down, when that was, and when the broker came back."""

    start: int
    stopped: int
    back: int


def undeleted(events: Sequence[TraceEvent], nemesis: Sequence[NemesisOp]) -> Iterator[Anomaly]:
    """One for each such start of a broker, and partition."""
    starts: dict[tuple[int, str], int] = {}
    stopped: dict[int, int] = {}
    owed: dict[tuple[int, str], _Owed] = {}
    struck = [
        (time, node)
        for time, what, _, kind, detail in nemesis
        if what == "strike" and kind.startswith(_TAKES_BACK)
        for node in detail.get("nodes", (detail.get("node"),))
    ]
    for event in events:
        time, node, kind, partition = event[TIME], event[NODE], event[KIND], event[PARTITION]
        replica = node, partition
        for other in [other for other, debt in owed.items() if debt.back < time]:
            yield _anomaly(*other, owed.pop(other), 0)
        if kind == "stop":
            stopped.pop(node, None)
            if Stop(event).how == "clean":
                stopped[node] = time
        elif kind == "removed":
            starts.pop(replica, None)
        elif kind == "truncate" and replica in starts:
            starts[replica] = min(starts[replica], Truncate(event).to)
        elif kind == "recovered":
            before, since = starts.pop(replica, 0), stopped.get(node)
            if before and since is not None and not any(n == node and since <= at <= time for at, n in struck):
                owed[replica] = _Owed(before, since, time)
        elif kind == "log-start":
            start = starts[replica] = LogStart(event).start
            debt = owed.pop(replica, None)
            if debt is not None and start < debt.start:
                yield _anomaly(*replica, debt, start)
    for other, debt in owed.items():
        yield _anomaly(*other, debt, 0)


def _anomaly(node: int, partition: str, owed: _Owed, start: int) -> Anomaly:
    message = (
        f"Broker {node} shut down cleanly at {seconds(owed.stopped)}, when its log of {partition} began at offset {owed.start}, "
        f"and came back at {seconds(owed.back)} with one that began at {start}."
    )
    evidence = {"node": node, "start": start, "before": owed.start, "stopped": owed.stopped}
    return Anomaly(NAME, VIOLATION, owed.back, partition, message, evidence=evidence)
