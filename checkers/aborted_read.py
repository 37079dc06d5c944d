"""`G1a`, aborted read: an ok poll returned a value whose send failed, and so certainly did not happen.

>>> from checkers import History, Op, check, polled
>>> verdict = check(History.of(ops=[
...     Op(1, "p1", "fail", "send", (("send", "t-0", 7),), "NOT_ENOUGH_REPLICAS", "all"),
...     polled(2, "c1", "t-0", (0, 7)),
... ]))
>>> print(verdict.anomalies[0].message)
c1 read record 7 of t-0 at offset 0 at 0.000002 s, but its send had failed (NOT_ENOUGH_REPLICAS).
"""

from __future__ import annotations

from checkers.client_view import ClientView, Sighting
from checkers.history import Op, Value
from checkers.shortened import shortened
from checkers.verdict import VIOLATION, Anomaly, seconds

NAME = "G1a"


def aborted_reads(view: ClientView) -> list[Anomaly]:
    """The aborted reads of all keys, one for each value."""
    anomalies = []
    for key, seen in sorted(view.keys.items()):
        if not seen.failed:
            continue
        aborted = {value for _, value in seen.ok_reads} & seen.failed - seen.acked.keys()
        reads: dict[Value, Sighting] = {}
        for sighting in view.sightings(key) if aborted else ():
            if sighting.f == "poll" and sighting.type == "ok" and sighting.value in aborted:
                reads.setdefault(sighting.value, sighting)
        anomalies += shortened([_anomaly(view, key, read) for read in reads.values()])
    return anomalies


def _anomaly(view: ClientView, key: str, read: Sighting) -> Anomaly:
    failed = next(op for op in view.ops if op.type == "fail" and _sends(op, key, read.value))
    error = f" ({failed.error})" if failed.error else ""
    message = (
        f"{read.process} read record {read.value} of {key} at offset {read.offset} at {seconds(read.time)}, "
        f"but its send had failed{error}."
    )
    evidence = {
        "value": read.value,
        "offset": read.offset,
        "read_time": read.time,
        "read_process": read.process,
        "send_time": failed.time,
        "send_process": failed.process,
        "error": failed.error,
    }
    return Anomaly(NAME, VIOLATION, read.time, key, message, evidence=evidence)


def _sends(op: Op, key: str, value: Value) -> bool:
    if op.f not in ("send", "txn"):
        return False
    sends = [micro for micro in op.value if micro[0] == "send" and micro[1] == key]
    return any(value == (what[1] if isinstance(what, tuple) else what) for _, _, what in sends)
