"""`falling-generation`: a server went back to an older generation, or stood in one that had begun without it.

A server's generation is on its disk before it says anything of it, and never falls (Ongaro and Ousterhout, "In Search of an
Understandable Consensus Algorithm", 2014, section 5.1 and figure 2). One that falls back follows whoever was deposed, and takes
what that one sends for the newest. One that has lost its disk cannot know.

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(isr=False, contract="majority", trace=[
...     (10, 3, "follow", "t-0", 5, 2, 0, 0),
...     (20, 3, "stop", "", "crash"),
...     (30, 3, "start", "", 2),
...     (40, 3, "follow", "t-0", 4, 1, 0, 0),
... ]))
>>> print(verdict.anomalies[0].message)
Broker 3 was in generation 4 of t-0 at 0.000040 s, and had been in generation 5 at 0.000010 s.
"""

from __future__ import annotations

from collections.abc import Iterable

from tidemark.checkers.history.trace_events import KIND, NODE, PARTITION, TIME, Follow, Lead, Stop, TraceEvent, Vote
from tidemark.checkers.history.turning_points import TurningPoint
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "falling-generation"


def falling_generations(points: Iterable[TurningPoint]) -> list[Anomaly]:
    """The first of each server and partition."""
    newest: dict[tuple[str, int], tuple[int, int]] = {}
    fallen: set[tuple[str, int]] = set()
    found = []
    for index, event in points:
        kind, time, place = event[KIND], event[TIME], (event[PARTITION], event[NODE])
        if kind == "stop" and Stop(event).how == "disk":
            newest = {where: known for where, known in newest.items() if where[1] != event[NODE]}
        if kind not in ("lead", "follow", "vote"):
            continue
        generation, stands = _named(event)
        before, since = newest.get(place, (-1, 0))
        if generation > before:
            newest[place] = generation, time
        elif (generation < before or (stands and since < time)) and place not in fallen:
            fallen.add(place)
            partition, node = place
            did = "stood" if stands else "was"
            message = (
                f"Broker {node} {did} in generation {generation} of {partition} at {seconds(time)}, and had been in generation "
                f"{before} at {seconds(since)}."
            )
            evidence = {"node": node, "generation": generation, "before": before, "since": since, "trace_index": index}
            found.append(Anomaly(NAME, VIOLATION, time, partition, message, evidence=evidence))
    return found


def _named(event: TraceEvent) -> tuple[int, bool]:
    """The generation that a server is in, and whether it begins it, as a candidate."""
    if event[KIND] == "vote":
        vote = Vote(event)
        return vote.generation, vote.candidate == vote.node
    return (Lead(event) if event[KIND] == "lead" else Follow(event)).leader_epoch, False
