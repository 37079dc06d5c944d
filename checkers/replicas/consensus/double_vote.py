"""`double-vote`: a server voted for two candidates in one generation, so that the generation may have two leaders.

A vote is a promise, and a server that has restarted must remember it. One that has lost its disk cannot.

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(isr=False, contract="majority", trace=[
...     (10, 3, "vote", "t-0", 2, 1),
...     (20, 3, "stop", "", "crash"),
...     (30, 3, "start", "", 2),
...     (40, 3, "vote", "t-0", 2, 2),
... ]))
>>> print(verdict.anomalies[0].message)
Broker 3 voted for broker 2 in generation 2 of t-0 at 0.000040 s, having voted for broker 1 at 0.000010 s.
"""

from __future__ import annotations

from collections.abc import Iterable

from tidemark.checkers.history.trace_events import KIND, NODE, Stop, Vote
from tidemark.checkers.history.turning_points import TurningPoint
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "double-vote"


def double_votes(points: Iterable[TurningPoint]) -> list[Anomaly]:
    """One anomaly for each second vote."""
    votes: dict[tuple[str, int, int], tuple[int, int]] = {}
    found = []
    for index, event in points:
        if event[KIND] == "stop" and Stop(event).how == "disk":
            votes = {place: given for place, given in votes.items() if place[1] != event[NODE]}
        if event[KIND] != "vote":
            continue
        vote = Vote(event)
        node, generation, candidate = vote.node, vote.generation, vote.candidate
        first, since = votes.setdefault((vote.partition, node, generation), (candidate, vote.time))
        if first != candidate:
            message = (
                f"Broker {node} voted for broker {candidate} in generation {generation} of {vote.partition} at "
                f"{seconds(vote.time)}, having voted for broker {first} at {seconds(since)}."
            )
            evidence = {"node": node, "generation": generation, "candidates": [first, candidate], "trace_index": index}
            found.append(Anomaly(NAME, VIOLATION, vote.time, vote.partition, message, evidence=evidence))
    return found
