"""`not-served`: a consumer was refused, or given nothing, though all was calm (:mod:`~tidemark.checkers.replicas.liveness.calm`).

A consumer that is refused asks who leads, and whoever leads answers it. A leader that has no lease yet has one as soon as a
majority has answered it, and one that has given its lease up begins anew after a session; so none of this lasts longer than an
election may take. A poll that is told that its position is out of range is answered. Final reads that did not come to their end
were given nothing since the last record that they returned.

>>> from tidemark.checkers import History, Op, check
>>> times = {"session_us": 10, "heartbeat_us": 2, "tick_us": 1, "request_timeout_us": 5, "fetch_wait_us": 2}
>>> times |= {"lag_time_us": 15, "produce_timeout_us": 15}
>>> polls = [(10, "invoke", None), (12, "fail", "NOT_LEADER"), (30, "invoke", None), (34, "fail", "NOT_LEADER")]
>>> verdict = check(History.of(times=times, end_us=50, isr=False, replicas={"t-0": [1, 2]}, trace=[
...     (0, 1, "start", "", 1), (0, 2, "start", "", 1),
...     (1, 1, "lead", "t-0", 1, 0, 0, ()),
...     (2, 2, "follow", "t-0", 1, 1, 0, 0),
... ], ops=[Op(time, "c1", kind, "poll", (("poll", {}),), error) for time, kind, error in polls]))
>>> print(verdict.anomalies[0].message)
No poll of c1 gave anything from 0.000010 s to 0.000034 s (NOT_LEADER), though brokers led, all others followed them, and \
nothing was wrong with anybody: 0.000024 s, where 0.000023 s would do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tidemark.checkers.history.history import Op
from tidemark.checkers.replicas.liveness.bounds import Bounds
from tidemark.checkers.replicas.liveness.calm import Calm
from tidemark.checkers.replicas.liveness.spans import Span
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "not-served"
OUT_OF_RANGE = "OFFSET_OUT_OF_RANGE"


class InVain(NamedTuple):
    """Polls of a process, one after the other, that gave nothing: from when the first was invoked to when the last ended."""

    process: str
    span: Span
    error: str


def in_vain(ops: Sequence[Op], bounds: Bounds, *, read_back: bool) -> list[InVain]:
    """Those of a run that lasted too long, if all was calm; ``read_back``: whether its final reads came to their end."""
    begun: dict[str, int] = {}
    open_since: dict[str, int] = {}
    last: dict[str, Op] = {}
    found = []

    def close(process: str) -> None:
        since = open_since.pop(process, None)
        if since is not None and (one := last[process]).time - since > bounds.elect_us:
            found.append(InVain(process, Span(since, one.time), one.error or "no records"))

    for op in ops:
        if op.f != "poll":
            continue
        if op.type == "invoke":
            begun[op.process] = op.time
        elif op.error == OUT_OF_RANGE or (op.type == "ok" and (read_back or not op.final or _has_records(op))):
            close(op.process)
        else:
            open_since.setdefault(op.process, begun.get(op.process, op.time))
            last[op.process] = op
    for process in [*open_since]:
        close(process)
    return found


def _has_records(op: Op) -> bool:
    return any(records for micro in op.value or () if isinstance(micro[1], Mapping) for records in micro[1].values())


def not_served(polls: Sequence[InVain], calm: Sequence[Calm], bounds: Bounds) -> Iterator[Anomaly]:
    """Those that lasted too long while every partition was calm: a poll that fails does not say which one it was of."""
    for process, (since, until), error in polls:
        for (begin, end), _ in calm:
            span = Span(max(since, begin), min(until, end))
            if span.length_us > bounds.elect_us:
                message = (
                    f"No poll of {process} gave anything from {seconds(span.begin)} to {seconds(span.end)} ({error}), though "
                    "brokers led, all others followed them, and nothing was wrong with anybody: "
                    f"{seconds(span.length_us)}, where {seconds(bounds.elect_us)} would do."
                )
                evidence = {
                    "process": process,
                    "error": error,
                    "since": span.begin,
                    "until": span.end,
                    "bound_us": bounds.elect_us,
                }
                yield Anomaly(NAME, VIOLATION, span.begin + bounds.elect_us, "", message, evidence=evidence)
                break
