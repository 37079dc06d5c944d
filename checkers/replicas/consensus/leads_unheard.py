"""`leads-unheard`: a leader led on though for longer than two session time-outs no majority could have answered it (pre-vote:
Ongaro, "Consensus: Bridging Theory and Practice", 2014, section 6.2).

Who still hears such a leader lets nobody else be elected where servers ask before they stand, so that it must make way itself.
Nobody answers who has no process or a paused one, or whom a fault has cut off from all other servers, in either direction; what
other faults do to messages is not looked at. No time goes by for a leader that is paused.

>>> from tidemark.checkers import History, check
>>> times = {"session_us": 10, "heartbeat_us": 2, "tick_us": 1, "request_timeout_us": 5, "fetch_wait_us": 2}
>>> times |= {"lag_time_us": 15, "produce_timeout_us": 15}
>>> verdict = check(History.of(isr=False, contract="majority", times=times, end_us=60, replicas={"t-0": [1, 2, 3]}, trace=[
...     (1, 2, "pre-vote", "t-0", 1, 1), (2, 1, "vote", "t-0", 1, 1), (3, 1, "lead", "t-0", 1, 0, 0, ()),
... ], nemesis=[(10, "strike", 0, "from-peers", {"node": 1})]))
>>> print(verdict.anomalies[0].message)
Broker 1 led t-0 from 0.000010 s to 0.000060 s though no majority of its 3 servers could hear it and answer: \
0.000050 s, where 0.000023 s would do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tidemark.checkers.history.history import NemesisOp
from tidemark.checkers.history.trace_events import (
    KIND,
    NODE,
    PARTITION,
    TIME,
    Follow,
    Lead,
    Members,
    PreVote,
    Stop,
    TraceEvent,
)
from tidemark.checkers.replicas.liveness.bounds import Bounds
from tidemark.checkers.replicas.liveness.spans import Spans
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "leads-unheard"
_CUTS_OFF = frozenset({"isolate", "from-peers", "one-way-in", "one-way-out", "disconnect"})
_SILENT, _SPEAKS = frozenset({"stop", "pause"}), frozenset({"start", "resume"})

Reign = tuple[str, int, int]
"""A partition, its leader, and the generation."""


def leads_unheard(
    events: Sequence[TraceEvent],
    nemesis: Sequence[NemesisOp],
    assignment: Mapping[str, Sequence[int]],
    bounds: Bounds | None,
    end: int,
) -> Iterator[Anomaly]:
    """One for each reign; none where nobody asks before standing, and none of a group that has changed."""
    if bounds is None or not any(event[KIND] == PreVote.kind for event in events):
        return
    changed = {told.partition for told in Members.among(events)}
    groups = {partition: servers for partition, servers in assignment.items() if partition not in changed}
    told: set[Reign] = set()
    for reign, span in sorted(_unheard(events, nemesis, groups, end).closed, key=lambda one: (one[1], one[0])):
        if span.length_us <= bounds.resign_us or reign in told:
            continue
        told.add(reign)
        partition, leader, generation = reign
        message = (
            f"Broker {leader} led {partition} from {seconds(span.begin)} to {seconds(span.end)} though no majority of its "
            f"{len(groups[partition])} servers could hear it and answer: {seconds(span.length_us)}, where "
            f"{seconds(bounds.resign_us)} would do."
        )
        evidence = {
            "leader": leader,
            "generation": generation,
            "since": span.begin,
            "until": span.end,
            "bound_us": bounds.resign_us,
        }
        yield Anomaly(NAME, VIOLATION, span.begin + bounds.resign_us, partition, message, evidence=evidence)


def _unheard(
    events: Sequence[TraceEvent], nemesis: Sequence[NemesisOp], groups: Mapping[str, Sequence[int]], end: int
) -> Spans[Reign]:
    """The spans in which a leader runs, and too few can answer it."""
    steps = sorted(
        [*((op[0], 0, op) for op in nemesis), *((one[TIME], 1, one) for one in events)], key=lambda one: one[:2]
    )
    leading: dict[tuple[str, int], int] = {}
    silent: set[int] = set()
    cuts: dict[int, int] = {}
    unheard = Spans[Reign]()
    for time, of_trace, entry in steps:
        if of_trace:
            _step(entry, leading, silent)
        else:
            _strike(entry, cuts)
        away = silent.union(cuts.values())
        now = []
        for (partition, leader), generation in leading.items():
            servers = groups.get(partition, ())
            able = 1 if leader in away else sum(one not in away for one in servers)
            if servers and leader not in silent and 2 * able <= len(servers):
                now.append((partition, leader, generation))
        unheard.now(now, time)
    unheard.end(end)
    return unheard


def _step(event: TraceEvent, leading: dict[tuple[str, int], int], silent: set[int]) -> None:
    """What a server says."""
    kind, node, partition = event[KIND], event[NODE], event[PARTITION]
    if kind == Lead.kind:
        leading[partition, node] = Lead(event).leader_epoch
    elif kind == Follow.kind:
        leading.pop((partition, node), None)
    elif kind in _SPEAKS:
        silent.discard(node)
    elif kind in _SILENT:
        silent.add(node)
        for key in [key for key in leading if key[1] == node and kind == Stop.kind]:
            del leading[key]


def _strike(op: NemesisOp, cuts: dict[int, int]) -> None:
    """What a fault does; it is healed by its number, or with all others."""
    _, what, index, kind, detail = op
    if what == "strike" and kind in _CUTS_OFF:
        cuts[index] = detail.get("node", -1)
    elif what == "heal":
        for healed in [index] if index >= 0 else [*cuts]:
            cuts.pop(healed, None)
