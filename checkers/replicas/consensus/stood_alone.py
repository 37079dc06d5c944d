"""`stood-alone`: a server stood for election though no majority had said that it would vote for it (pre-vote: Ongaro, "Consensus:
Bridging Theory and Practice", 2014, section 9.6).

That is what keeps a server that was cut off from deposing a leader whom all others follow. Whom an operator wants to lead may stand
at once, and a leader that gave its lease up for that a while later; so for as long as that may take nobody is judged, and while a
server is paused no time goes by for it: it reads the order when it goes on.

>>> from tidemark.checkers import History, check
>>> times = {"session_us": 10, "heartbeat_us": 2, "tick_us": 1, "request_timeout_us": 5, "fetch_wait_us": 2}
>>> times |= {"lag_time_us": 15, "produce_timeout_us": 15}
>>> verdict = check(History.of(isr=False, contract="majority", times=times, replicas={"t-0": [1, 2, 3, 4]}, trace=[
...     (10, 2, "pre-vote", "t-0", 1, 1),
...     (20, 1, "vote", "t-0", 1, 1),
... ]))
>>> print(verdict.anomalies[0].message)
Broker 1 stood for election in generation 1 of t-0 at 0.000020 s, though beside itself only [2] of 4 servers had said that they \
would vote for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from tidemark.checkers.history.history import NemesisOp
from tidemark.checkers.history.trace_events import KIND, NODE, TIME, Members, PreVote, TraceEvent, Vote
from tidemark.checkers.replicas.liveness.bounds import Bounds
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "stood-alone"
_ASKS = frozenset({"forced-election", "preferred-election", "fast-failover"})


def stood_alone(
    events: Sequence[TraceEvent],
    nemesis: Sequence[NemesisOp],
    assignment: Mapping[str, Sequence[int]],
    bounds: Bounds | None,
) -> Iterator[Anomaly]:
    """One for each such candidacy; none where nobody has said so of anybody: there is no pre-vote.

    Where members change, a majority of the smallest group that there was is enough.
    """
    if bounds is None or not any(event[KIND] == PreVote.kind for event in events):
        return
    asked: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for time, what, _, kind, detail in nemesis:
        if what == "strike" and kind in _ASKS:
            asked[detail.get("partition", "")].append((time, time + detail.get("amount", 0) + bounds.elect_us))
    smallest = {partition: len(replicas) for partition, replicas in assignment.items()}
    for told in Members.among(events):
        smallest[told.partition] = min(smallest.get(told.partition, 1), len(told.replicas))
    would: defaultdict[tuple[str, int, int], set[int]] = defaultdict(set)
    pauses = _pauses(events)
    for event in events:
        if event[KIND] == PreVote.kind:
            said = PreVote(event)
            would[said.partition, said.generation, said.candidate].add(said.node)
        elif event[KIND] == Vote.kind:
            vote = Vote(event)
            orders, slept = asked[vote.partition], pauses[vote.node]
            wanted = any(begin <= event[TIME] <= _put_off(begin, end, slept) for begin, end in orders)
            size = smallest.get(vote.partition, 1)
            others = would[vote.partition, vote.generation, vote.node] - {vote.node}
            if vote.node == vote.candidate and not wanted and len(others) + 1 <= size // 2:
                message = (
                    f"Broker {vote.node} stood for election in generation {vote.generation} of {vote.partition} at "
                    f"{seconds(vote.time)}, though beside itself only {sorted(others)} of {size} servers had said that they "
                    "would vote for it."
                )
                evidence = {"node": vote.node, "generation": vote.generation, "would_vote": sorted(others)}
                yield Anomaly(NAME, VIOLATION, vote.time, vote.partition, message, evidence=evidence)


def _pauses(events: Sequence[TraceEvent]) -> defaultdict[int, list[tuple[int, int]]]:
    """Of each server: from when to when, in their order."""
    found: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    since: dict[int, int] = {}
    for event in events:
        if event[KIND] == "pause":
            since[event[NODE]] = event[TIME]
        elif event[KIND] == "resume":
            found[event[NODE]].append((since.pop(event[NODE], event[TIME]), event[TIME]))
    return found


def _put_off(begin: int, end: int, pauses: Sequence[tuple[int, int]]) -> int:
    """When a span ends for a server to which no time goes by in its pauses."""
    for paused, resumed in pauses:
        if resumed > begin and paused <= end:
            end += resumed - max(paused, begin)
    return end
