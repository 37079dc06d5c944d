"""`stale-read-below-hw`: a consumer was given a record at an offset where another one was committed by then.

It was answered by somebody whose log differs from what is committed: a leader of old that does not know it, or a leader that lacks
what it must have. Judged as the loss of the record that it was given, where that had been committed too; else as the loss of the
other one, in whose place it may stand by right. Where the record that it was given had been deleted on purpose, another one may
stand in its place.

>>> from tidemark.checkers import History, check, polled
>>> verdict = check(History.of(ops=[polled(60, "c1", "t-0", (0, 7))], trace=[
...     (10, 1, "lead", "t-0", 1, 0, 0, (1, 2)),
...     (20, 1, "append", "t-0", 0, 1, (7,)),
...     (30, 2, "lead", "t-0", 2, 0, 0, (2,)),
...     (40, 2, "append", "t-0", 0, 2, (8,)),
...     (50, 2, "hw", "t-0", 1, 2, True),
... ]))
>>> print(next(one for one in verdict.anomalies if one.name == "stale-read-below-hw").message)
c1 was given record 7 of t-0 at offset 0 at 0.000060 s, where record 8 was committed since 0.000050 s.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from tidemark.checkers.history.history import Value
from tidemark.checkers.replicas.committed import Committed
from tidemark.checkers.replicas.contract import DELETED
from tidemark.checkers.replicas.unsettled_reads import Read
from tidemark.checkers.verdict.verdict import VIOLATES, Anomaly, Judgement, seconds

NAME = "stale-read-below-hw"


def stale_reads(
    reads: Sequence[Read], committed: Committed, fates: Mapping[tuple[str, Value], Judgement], patience_us: int
) -> list[Anomaly]:
    """One anomaly for each key.

    Args:
        reads: what may be stale.
        committed: what became committed and when, after the whole trace.
        fates: how the loss of a record is judged.
        patience_us: so long before a poll the other record has to be committed, in µs.
    """
    found: dict[str, list[tuple[Read, Value, int]]] = {}
    for read in reads:
        other = committed.another_at(read.key, read.offset, read.value, read.op.time - patience_us)
        if other is not None:
            found.setdefault(read.key, []).append((read, *other))
    return [_anomaly(key, stale, fates, committed.deleted_values(key)) for key, stale in sorted(found.items())]


def _anomaly(
    key: str,
    reads: Sequence[tuple[Read, Value, int]],
    fates: Mapping[tuple[str, Value], Judgement],
    deleted: Collection[Value],
) -> Anomaly:
    """The first that is no deleted record's, or, if all are, the first."""
    read, other, since = next((one for one in reads if one[0].value not in deleted), reads[0])
    more = "" if len(reads) == 1 else f" (and {len(reads) - 1} more such reads)"
    message = (
        f"{read.op.process} was given record {read.value} of {key} at offset {read.offset} at {seconds(read.op.time)}, where "
        f"record {other} was committed since {seconds(since)}{more}."
    )
    evidence = {
        "process": read.op.process, "offset": read.offset, "value": read.value, "committed": other, "since": since,
        "count": len(reads),
    }  # fmt: skip
    by_deletion = DELETED if read.value in deleted else None
    judged = fates.get((key, read.value)) or by_deletion or fates.get((key, other), VIOLATES)
    return Anomaly(NAME, judged.verdict, read.op.time, key, message, judged.clause, judged.breaks, evidence)
