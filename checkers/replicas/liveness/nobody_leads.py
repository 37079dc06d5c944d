"""`no-leader` where no ISR decides: the same majority is well all the time, everyone else stopped or paused, and nobody leads.

A server that hears of no leader stands for election within two session time-outs (Raft, section 5.2), and who votes is up to date
or stands itself. Two that stand at once split the votes now and then, so one bound is three such rounds. A partition that somebody
owns by a lock (BookKeeper's) is free when the owner's session has ended; who takes over asks store, bookies, and the store again.

>>> from tidemark.checkers import History, check
>>> times = {"session_us": 10, "heartbeat_us": 2, "tick_us": 1, "request_timeout_us": 5, "fetch_wait_us": 2}
>>> times |= {"lag_time_us": 15, "produce_timeout_us": 15}
>>> verdict = check(History.of(times=times, end_us=200, isr=False, replicas={"t-0": [1, 2, 3]}, trace=[
...     (0, 1, "start", "", 1), (0, 2, "start", "", 1), (0, 3, "start", "", 1),
...     (1, 1, "vote", "t-0", 1, 1),
...     (2, 1, "lead", "t-0", 1, 0, 0, ()),
...     (50, 1, "stop", "", "crash"),
... ], nemesis=[(50, "strike", 0, "crash", {"node": 1, "nodes": [1]})]))
>>> print(verdict.anomalies[0].message)
Nobody has led t-0 from 0.000050 s to 0.000200 s, though servers 2, 3 of its 3 were well all the time: \
0.000150 s, where 0.000069 s would do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tidemark.checkers.history.trace_events import KIND, NODE, PARTITION, TIME, TraceEvent
from tidemark.checkers.replicas.liveness.bounds import Bounds
from tidemark.checkers.replicas.liveness.spans import Span, Spans
from tidemark.checkers.replicas.liveness.who_is_well import WhoIsWell
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "no-leader"
_SILENT, _SPEAKS = frozenset({"stop", "pause"}), frozenset({"start", "resume"})
_MOVES = frozenset({"reassign", "members"})


Able = tuple[str, tuple[int, ...]]
"""A partition, and the majority of its servers that is well."""


def may_elect(state: WhoIsWell) -> list[Able]:
    """Of a moment: the partitions that a majority could serve, while everyone else has no process, or a paused one.

    Who is neither well nor silent is cut off, and may be whom the others wait for; who has lost its disk is no witness of what was
    committed.
    """
    found = []
    for partition in state.assigned():
        replicas = state.replicas(partition)
        well = tuple(one for one in replicas if one in state.well and not state.lost_its_log(one, partition))
        if 2 * len(well) > len(replicas) and all(one in state.well or one in state.silent_since for one in replicas):
            found.append((partition, well))
    return found


def nobody_leads(
    points: Sequence[TraceEvent], able: Spans[Able], bounds: Bounds, replicas: Mapping[str, Sequence[int]], end: int
) -> Iterator[Anomaly]:
    """Where it lasted for longer than it may. A partition whose servers change is not judged."""
    votes = any(event[KIND] == "vote" for event in points)
    bound = bounds.voted_us if votes else bounds.owned_us
    moved = {event[PARTITION] for event in points if event[KIND] in _MOVES}
    for partition, span in sorted(_without(points, replicas, end), key=lambda one: (one[1], one[0])):
        for (key, well), other in able.closed:
            both = span.common(other)
            if key != partition or partition in moved or both.length_us <= bound:
                continue
            message = (
                f"Nobody has led {partition} from {seconds(both.begin)} to {seconds(both.end)}, though servers "
                f"{', '.join(map(str, well))} of its {len(replicas[partition])} were well all the time: "
                f"{seconds(both.length_us)}, where {seconds(bound)} would do."
            )
            evidence = {"well": [*well], "since": both.begin, "until": both.end, "bound_us": bound}
            yield Anomaly(NAME, VIOLATION, both.begin + bound, partition, message, evidence=evidence)


def _without(points: Sequence[TraceEvent], replicas: Mapping[str, Sequence[int]], end: int) -> list[tuple[str, Span]]:
    """The spans in which no server that can speak says that it leads."""
    leading: dict[str, set[int]] = {partition: set() for partition in replicas}
    silent: set[int] = set()
    without = Spans[str]()
    for event in points:
        kind, node, partition = event[KIND], event[NODE], event[PARTITION]
        if kind in _SILENT:
            silent.add(node)
        elif kind in _SPEAKS:
            silent.discard(node)
        elif kind == "lead" and partition in leading:
            leading[partition].add(node)
        elif kind == "follow" and partition in leading:
            leading[partition].discard(node)
        else:
            continue
        if kind == "stop":
            for servers in leading.values():
                servers.discard(node)
        without.now([one for one, servers in leading.items() if servers <= silent], event[TIME])
    without.end(end)
    return without.closed
