"""`dirty-read`: a consumer was given a record that no leader's high watermark had passed.

Kafka gives consumers only what is committed, so that nothing they have seen can go. No promise permits it, whether the record stays
in the end or not. Told with the first poll that returned it, once per key with the number of records.

Several machines' clocks, and a log that is followed as it is written, may bring a high watermark late: there a record counts as
committed that is so up to `LIVE_PATIENCE_US` later.

>>> from tidemark.checkers import History, check, polled
>>> verdict = check(History.of(ops=[polled(25, "c1", "t-0", (0, 7))], trace=[
...     (10, 1, "lead", "t-0", 1, 0, 0, (1, 2)),
...     (20, 1, "append", "t-0", 0, 1, (7,)),
...     (30, 1, "hw", "t-0", 1, 1, True),
... ]))
>>> print(verdict.anomalies[0].message)
c1 was given record 7 of t-0 (offset 0) at 0.000025 s, which became committed at 0.000030 s only.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.checkers.history.history import Value
from tidemark.checkers.replicas.committed import Committed
from tidemark.checkers.replicas.unsettled_reads import Read
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "dirty-read"


def dirty_reads(reads: Sequence[Read], committed: Committed, patience_us: int) -> list[Anomaly]:
    """One anomaly for each key.

    Args:
        reads: what may be dirty.
        committed: what became committed and when, after the whole trace.
        patience_us: how much later than a poll a record may become committed, in µs.
    """
    found: dict[str, list[tuple[Read, int | None]]] = {}
    seen: set[tuple[str, int, Value]] = set()
    for read in reads:
        when = committed.time_of(read.key, read.offset, read.value)
        if (when is None or when > read.op.time + patience_us) and read[1:] not in seen:
            seen.add(read[1:])
            found.setdefault(read.key, []).append((read, when))
    return [_anomaly(key, dirty) for key, dirty in sorted(found.items())]


def _anomaly(key: str, reads: list[tuple[Read, int | None]]) -> Anomaly:
    (op, _, offset, value), when = reads[0]
    later = "never became committed" if when is None else f"became committed at {seconds(when)} only"
    more = "" if len(reads) == 1 else f" (and {len(reads) - 1} more such records)"
    message = (
        f"{op.process} was given record {value} of {key} (offset {offset}) at {seconds(op.time)}, which {later}{more}."
    )
    evidence = {
        "process": op.process, "offset": offset, "value": value, "committed_time": when, "count": len(reads),
    }  # fmt: skip
    return Anomaly(NAME, VIOLATION, op.time, key, message, evidence=evidence)
