"""`dirty-read`: a consumer was given a record that no leader's high watermark had passed.

Kafka gives consumers only what is committed, so that nothing they have seen can go. No promise permits it, whether the record stays
in the end or not. Told with the first poll that returned it, once per key with the number of records.

Several machines' clocks, and a log that is followed as it is written, may bring a high watermark late: there a record counts as
committed that is so up to `LIVE_PATIENCE_US` later.

>>> from checkers import History, check, polled
>>> verdict = check(History.of(ops=[polled(25, "c1", "t-0", (0, 7))], trace=[
...     (10, 1, "lead", "t-0", 1, 0, 0, (1, 2)),
...     (20, 1, "append", "t-0", 0, 1, (7,)),
...     (30, 1, "hw", "t-0", 1, 1, True),
... ]))
>>> print(verdict.anomalies[0].message)
c1 was given record 7 of t-0 (offset 0) at 0.000025 s, which became committed at 0.000030 s only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checkers.committed import Committed
from checkers.history import Op, Value
from checkers.verdict import VIOLATION, Anomaly, seconds

NAME = "dirty-read"

_Read = tuple[Op, int, Value, int | None]
"""The poll, offset, value, and when it was committed, in µs; `None` if never."""


def dirty_reads(ops: Sequence[Op], committed: Committed, patience_us: int) -> list[Anomaly]:
    """One anomaly for each key.

    Args:
        ops: the run's.
        committed: what became committed and when, after the whole trace.
        patience_us: how much later than a poll a record may become committed, in µs.
    """
    found: dict[str, list[_Read]] = {}
    seen: set[tuple[str, int, Value]] = set()
    for op in ops:
        if op.type != "ok" or op.f == "send":
            continue
        for key, records in _answers(op):
            if not records or committed.newest_leader(key) is None or committed.had_committed(key, records, op.time):
                continue
            for offset, value in records:
                when = committed.time_of(key, offset, value)
                if (when is None or when > op.time + patience_us) and (key, offset, value) not in seen:
                    seen.add((key, offset, value))
                    found.setdefault(key, []).append((op, offset, value, when))
    return [_anomaly(key, reads) for key, reads in sorted(found.items())]


def _answers(op: Op) -> Iterator[tuple[str, list[tuple[int, Value]]]]:
    for micro in op.value or ():
        if micro[0] == "poll":
            yield from micro[1].items()


def _anomaly(key: str, reads: list[_Read]) -> Anomaly:
    op, offset, value, when = reads[0]
    later = "never became committed" if when is None else f"became committed at {seconds(when)} only"
    more = "" if len(reads) == 1 else f" (and {len(reads) - 1} more such records)"
    message = (
        f"{op.process} was given record {value} of {key} (offset {offset}) at {seconds(op.time)}, which {later}{more}."
    )
    evidence = {
        "process": op.process, "offset": offset, "value": value, "committed_time": when, "count": len(reads),
    }  # fmt: skip
    return Anomaly(NAME, VIOLATION, op.time, key, message, evidence=evidence)
