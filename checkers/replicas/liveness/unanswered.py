"""`not-acknowledged`, of requests that could be carried out: a send that its leader committed, or a deletion that all replicas
could follow, and nobody told the client in time.

A leader answers a send with acks=all when the high watermark passes it (``DelayedProduce``), and a deletion when the log starts
of all live replicas have passed it (``DelayedDeleteRecords``), each looked at with the fetch that brings it about. So nobody has
to ask anybody else, and whatever goes on elsewhere is no excuse. But a client that gave the request up just before asks once more,
and it takes a leader to answer it: who leads no longer by then owes nothing.

>>> from tidemark.checkers import History, Op, check
>>> times = {"session_us": 10, "heartbeat_us": 2, "tick_us": 1, "request_timeout_us": 5, "fetch_wait_us": 2}
>>> times |= {"lag_time_us": 15, "produce_timeout_us": 15}
>>> value = (("send", "t-0", 7),)
>>> send = [Op(3, "p1", "invoke", "send", value), Op(18, "p1", "info", "send", value, "REQUEST_TIMED_OUT", "all")]
>>> verdict = check(History.of(times=times, end_us=20, replicas={"t-0": [1]}, ops=send, trace=[
...     (0, 0, "elect", "t-0", 1, 0, (1,), (), "initial", True, 0),
...     (1, 1, "lead", "t-0", 0, 0, 0, (1,)),
...     (4, 1, "append", "t-0", 0, 0, (7,)),
...     (5, 1, "hw", "t-0", 1, 0, True),
... ]))
>>> print(verdict.anomalies[0].message)
A send to t-0 by p1 at 0.000003 s was not acknowledged by 0.000018 s, though broker 1, which led, was well, and had committed it \
at 0.000005 s.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from tidemark.checkers.history.history import Op
from tidemark.checkers.history.trace_events import KIND, PARTITION, TIME, Append, Hw, LogStart, Recovered, TraceEvent
from tidemark.checkers.replicas.liveness.bounds import Bounds
from tidemark.checkers.replicas.liveness.calm import Calm
from tidemark.checkers.replicas.liveness.spans import Span, Spans
from tidemark.checkers.replicas.liveness.who_is_well import WhoIsWell
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "not-acknowledged"
TIMED_OUT = "REQUEST_TIMED_OUT"


class Request(NamedTuple):
    """One that its client gave up: who, what (`send` or `delete`), of which partition, what of it, when, and a send's acks."""

    process: str
    f: str
    key: str
    what: int
    span: Span
    acks: str | None = None

    @property
    def is_committed_first(self) -> bool:
        """Whether it is answered when it is committed."""
        return self.f == "delete" or self.acks == "all"


def given_up(ops: Sequence[Op]) -> list[Request]:
    """The sends and deletions that timed out."""
    ends = [op for op in ops if op.error == TIMED_OUT and op.f in ("send", "delete")]
    if not ends:
        return []
    begun: dict[str, int] = {}
    asked = {id(op) for op in ends}
    found = []
    for op in ops:
        if op.type == "invoke":
            begun[op.process] = op.time
        elif id(op) in asked and op.value:
            _, key, what = op.value[0]
            span = Span(begun.get(op.process, op.time), op.time)
            found.append(Request(op.process, op.f, key, what, span, op.acks))
    return found


def too_soon_or_late(requests: Sequence[Request], bounds: Bounds, *, patience_us: int, has_isr: bool) -> list[Request]:
    """Sends that must not have timed out, if all was calm: whose leader gave them up sooner than a client does; or those for
    which there was time. With an ISR not these: a leader waits for a member that cannot have what it has, until it has left.

    ``patience_us``: how long a client waits; 0: as long as brokers do.
    """
    own = min(patience_us or bounds.give_up_us, bounds.give_up_us)
    return [
        one
        for one in requests
        if one.f == "send" and (one.span.length_us < own or (not has_isr and one.span.length_us > bounds.advance_us))
    ]


def in_calm(requests: Sequence[Request], calm: Mapping[str, Sequence[Calm]], bounds: Bounds) -> Iterator[Anomaly]:
    """Those whose partition was calm all the time."""
    for request in requests:
        begin, end = request.span
        if _covered([one.span for one in calm.get(request.key, ())], request.span):
            message = (
                f"A send to {request.key} by {request.process} at {seconds(begin)} was not acknowledged by {seconds(end)}, though "
                "one broker led all the time, all others followed it, and nothing was wrong with anybody."
            )
            evidence = {
                "process": request.process, "error": TIMED_OUT, "since": begin, "until": end, "bound_us": bounds.advance_us,
            }  # fmt: skip
            yield Anomaly(NAME, VIOLATION, end, request.key, message, evidence=evidence)


def answering(state: WhoIsWell) -> list[int]:
    """The brokers of a moment that can answer a client, whatever they know of the cluster."""
    return [b for b in state.brokers if b not in state.silent_since and not state.faults.touches(b)]


def unanswered(
    requests: Sequence[Request],
    trace: Sequence[TraceEvent],
    replicas: Mapping[str, Sequence[int]],
    well: Spans[int],
    bounds: Bounds,
) -> Iterator[Anomaly]:
    """Those of the requests that could be carried out, and whose broker was in `well` from then until they were given up."""
    spans: defaultdict[int, list[Span]] = defaultdict(list)
    for broker, span in well.closed:
        spans[broker].append(span)
    done = [
        *_committed([one for one in requests if one.f == "send"], trace),
        *_deleted([one for one in requests if one.f == "delete"], trace, replicas, spans),
    ]
    for request, leader, since, led_until in sorted(done):
        until = request.span.end
        if min(until, led_until) - since <= bounds.answer_us or not _covered(spans[leader], Span(since, until)):
            continue
        what, came = _WORDS[request.f]
        message = (
            f"A {what} {request.key} by {request.process} at {seconds(request.span.begin)} was not acknowledged by "
            f"{seconds(until)}, though broker {leader}, which led, was well, and {came} at {seconds(since)}."
        )
        evidence = {
            "process": request.process, "error": TIMED_OUT, "leader": leader, "since": since, "until": until,
            "bound_us": bounds.answer_us,
        }  # fmt: skip
        yield Anomaly(NAME, VIOLATION, since + bounds.answer_us, request.key, message, evidence=evidence)


_WORDS = {
    "send": ("send to", "had committed it"),
    "delete": ("deletion of", "all replicas were well and had committed what was to go"),
}


def _covered(spans: Sequence[Span], wanted: Span) -> bool:
    return any(one.begin <= wanted.begin and wanted.end <= one.end for one in spans)


def _committed(sends: Sequence[Request], trace: Sequence[TraceEvent]) -> Iterator[tuple[Request, int, int, int]]:
    """Sends that whoever took them committed in the same reign and life, with that broker, when, and until when it led.

    A life ends a reign, but for its number: who has lost its disk may vote, and lead, in a generation that it had led in before.
    """
    wanted = {(one.key, one.what): one for one in sends}
    values = {value for _, value in wanted}
    taken: list[tuple[int, int, Request, tuple[int, str, int]]] = []
    for index, event in enumerate(trace) if wanted else ():
        if event[2] == "append" and not values.isdisjoint(event[6]):  # by place: of all events, few are such
            batch = Append(event)
            reign, end = (batch.node, batch.partition, batch.epoch), batch.base_offset + len(batch.values)
            found = (wanted.pop((batch.partition, value), None) for value in batch.values)
            taken += [(index, end, request, reign) for request in found if request is not None]
            if not wanted:
                break
    marks: dict[tuple[int, str, int], list[tuple[int, Hw]]] = {reign: [] for *_, reign in taken}
    stops: dict[int, list[int]] = {reign[0]: [] for *_, reign in taken}
    ends: dict[tuple[int, str], list[tuple[int, int]]] = {reign[:2]: [] for *_, reign in taken}
    for index, event in enumerate(trace) if taken else ():
        if event[2] == "hw" and event[6] and (of := marks.get((event[1], event[3], event[5]))) is not None:
            of.append((index, Hw(event)))
        elif event[2] == "stop" and event[1] in stops:
            stops[event[1]].append(index)
        elif event[2] == "follow" and (ended := ends.get((event[1], event[3]))) is not None:
            ended.append((index, event[0]))
    for index, end, request, reign in taken:
        of = marks[reign]
        later = islice(of, bisect_left(of, index, key=itemgetter(0)), None)
        committed = next(((place, mark.time) for place, mark in later if mark.hw >= end), None)
        if committed is not None and not any(index < stop < committed[0] for stop in stops[reign[0]]):
            led_until = next((time for place, time in ends[reign[:2]] if place > committed[0]), _FOR_EVER)
            yield request, reign[0], committed[1], led_until


def _deleted(
    deletions: Sequence[Request],
    trace: Sequence[TraceEvent],
    replicas: Mapping[str, Sequence[int]],
    well: Mapping[int, Sequence[Span]],
) -> Iterator[tuple[Request, int, int, int]]:
    """Deletions that a leader carried out in a reign that lasted, all replicas being well all the time; and since when all of them
    could follow, whose high watermarks have to have come that far.
    """
    for request in deletions:
        begin, end = request.span
        marks = dict.fromkeys(replicas.get(request.key, ()), 0)
        if not all(_covered(well.get(one, ()), request.span) for one in marks):
            continue
        lasts, at, leader, offset = True, begin, -1, 0
        for event in trace:
            kind, time = event[KIND], event[TIME]
            if time > end or not lasts:
                break
            if event[PARTITION] != request.key:
                continue
            if kind in ("hw", "recovered"):
                mark = Hw(event) if kind == "hw" else Recovered(event)
                before, marks[mark.node] = marks.get(mark.node, 0), mark.hw
                at = time if before < offset <= mark.hw else at
            elif kind == "log-start" and leader < 0 and time >= begin:
                moved = LogStart(event)
                if moved.how == "delete-records" and request.what in (moved.start, -1):
                    leader, offset, at = moved.node, moved.start, time
            elif kind in _ENDS_IT_ALL or (time >= begin and kind in _ENDS_A_REIGN):
                lasts = False
        if lasts and leader >= 0 and all(mark >= offset for mark in marks.values()):
            yield request, leader, at, end


_FOR_EVER = 1 << 62
_ENDS_A_REIGN = frozenset({"elect", "lead", "follow", "truncate"})
_ENDS_IT_ALL = frozenset({"reassign", "out-of-order"})
"""From then on nobody is sure who has to follow, or a follower may have given up."""
