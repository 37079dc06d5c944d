"""`half-deleted`: a client was told that records are deleted, and a replica in service had not deleted them by then.

Whoever asks to delete records is answered when the log starts of all live replicas are known to have followed (KIP-107;
``DelayedDeleteRecords``): else the next leader may have the records, and consumers read them again. A replica is in service that
has run without a pause and has never been fenced. What is ``wrong-deletion`` beside it is another thing.

>>> from tidemark.checkers import History, Op, check
>>> deleted = (("delete", "t-0", 5),)
>>> verdict = check(History.of(
...     replicas={"t-0": [1, 2]},
...     ops=[Op(10, "d1", "invoke", "delete", deleted), Op(20, "d1", "ok", "delete", deleted)],
...     trace=[(12, 1, "log-start", "t-0", 5, 0, "delete-records"), (30, 2, "log-start", "t-0", 5, 0, "leader")],
... ))
>>> print([one.message for one in verdict.anomalies if one.name == "half-deleted"][0])
Process d1 was told at 0.000020 s that t-0 is deleted up to offset 5; the log of broker 2, which has never been out of service, \
began at 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tidemark.checkers.history.history import Op
from tidemark.checkers.history.trace_events import (
    KIND,
    NODE,
    PARTITION,
    TIME,
    Elect,
    Fence,
    IsrChange,
    LogStart,
    TraceEvent,
)
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "half-deleted"


def half_deleted(
    events: Iterable[TraceEvent], ops: Sequence[Op], assignment: Mapping[str, Sequence[int]]
) -> Iterator[Anomaly]:
    """One for each deletion, and replica that had not followed. Partitions whose replicas ever change are not judged."""
    answered = [op for op in ops if op.f == "delete" and op.type == "ok"]
    if not answered:
        return
    out: dict[int, int] = {}
    left: dict[tuple[int, str], int] = {}
    starts: dict[tuple[int, str], list[tuple[int, int]]] = {}
    moved = set()
    for event in events:
        time, node, kind, partition = event[TIME], event[NODE], event[KIND], event[PARTITION]
        if kind == "log-start":
            starts.setdefault((node, partition), []).append((time, LogStart(event).start))
        elif kind in ("stop", "pause"):
            out.setdefault(node, time)
        elif kind == "fence":
            out.setdefault(Fence(event).broker, time)
        elif kind == "reassign":
            moved.add(partition)
        elif kind in ("elect", "isr-change"):
            isr = Elect(event).isr if kind == "elect" else IsrChange(event).isr
            for other in assignment.get(partition, ()):
                if other not in isr:
                    left.setdefault((other, partition), time)
    for op in answered:
        for _, partition, offset in op.value:
            for node in () if partition in moved else assignment.get(partition, ()):
                began = max((start for time, start in starts.get((node, partition), ()) if time <= op.time), default=0)
                gone = min(out.get(node, op.time + 1), left.get((node, partition), op.time + 1))
                if began < offset and op.time < gone:
                    yield _anomaly(op, partition, offset, node, began)


def _anomaly(op: Op, partition: str, offset: int, node: int, began: int) -> Anomaly:
    message = (
        f"Process {op.process} was told at {seconds(op.time)} that {partition} is deleted up to offset {offset}; the log of broker "
        f"{node}, which has never been out of service, began at {began}."
    )
    evidence = {"process": op.process, "offset": offset, "node": node, "start": began}
    return Anomaly(NAME, VIOLATION, op.time, partition, message, evidence=evidence)
