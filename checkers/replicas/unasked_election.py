"""`unasked-election`: a leader from outside ISR and ELR, though neither the configuration nor an operator wanted one.

Kafka elects such a leader while ``unclean.leader.election.enable`` says so, or when an operator asks for that election (KIP-460).
Any other is a violation by itself, and excuses no loss: the trace's own word for it is not enough. A request permits one election
of its partition, the next that is unclean.

What the controller calls clean is looked at, too: where one machine wrote the whole trace, the leader must have been in ISR or
ELR, as the controller had them last, or in an ISR that the leader of before had asked for.

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(trace=[(10, 0, "elect", "t-0", 3, 2, (3,), (), "unclean", False, 1)]))
>>> print(verdict.anomalies[0].message)
Broker 3 was elected leader of t-0 in epoch 2 at 0.000010 s from outside the ISR, which nobody had asked for.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tidemark.checkers.history.history import History
from tidemark.checkers.history.trace_events import KIND, PARTITION, Elect, Isr, IsrChange, TraceEvent
from tidemark.checkers.history.turning_points import TurningPoint
from tidemark.checkers.history.unclean import Allowance
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "unasked-election"
REQUEST = "unclean-election"
"""What the nemesis calls an operator's request."""
_HOW = ("unclean", "forced")


class UncleanElection(NamedTuple):
    """An election of a replica outside ISR and ELR: trace index, partition, leader epoch, and whether it was wanted."""

    at: int
    partition: str
    epoch: int
    asked_for: bool


def unclean_elections(history: History, points: Sequence[TurningPoint], patience_us: int = 0) -> list[UncleanElection]:
    """All of a run with these turning points, in order. An election of the *last known* leader is none of them (KIP-966).

    `patience_us`: how much later than its election the nemesis may have noted a request: several machines wrote the trace.
    """
    elections = [(index, Elect(event)) for index, event in points if event[KIND] == "elect"]
    unclean = [(index, elect) for index, elect in elections if not elect.clean and elect.how in _HOW]
    if not unclean:
        return []
    allowance = Allowance(history, points, patience_us)
    requests = [
        (event[0], event[4].get("partition")) for event in history.nemesis if event[1:4:2] == ("strike", REQUEST)
    ]
    used: Counter[str] = Counter()
    found = []
    for index, elect in unclean:
        partition = elect.partition
        made = sum(time <= elect.time + patience_us and of in (None, partition) for time, of in requests)
        allowed = allowance.at(index, elect.time)
        asked = allowed or made > used[partition]
        used[partition] = min(used[partition] + 1, made)
        found.append(UncleanElection(index, partition, elect.leader_epoch, asked))
    return found


def unasked_elections(
    trace: list[TraceEvent], elections: list[UncleanElection], points: Sequence[TurningPoint] = ()
) -> list[Anomaly]:
    """One anomaly for each; `points` are given where what is called clean can be looked at."""
    found = [*(one for one in elections if not one.asked_for), *_called_clean(points)]
    return [_anomaly(Elect(trace[one.at]), one) for one in sorted(found)]


def _called_clean(points: Sequence[TurningPoint]) -> Iterator[UncleanElection]:
    """Elections of who was in neither ISR nor ELR, and that nobody calls unclean. Who led last may lead when both are empty."""
    may_lead: defaultdict[str, set[int]] = defaultdict(set)
    for index, event in points:
        partition = event[PARTITION]
        match event[KIND]:
            case "isr-change":
                change = IsrChange(event)
                may_lead[partition] = {*change.isr, *change.elr}
            case "isr":
                may_lead[partition].update(Isr(event).maximal)
            case "elect":
                elect, before = Elect(event), may_lead.get(partition)
                outside = before is not None and elect.leader >= 0 and elect.leader not in before
                if outside and elect.clean and elect.how not in ("initial", "last-known"):
                    yield UncleanElection(index, partition, elect.leader_epoch, asked_for=False)
                may_lead[partition] = {*elect.isr, *elect.elr}


def _anomaly(elect: Elect, one: UncleanElection) -> Anomaly:
    message = (
        f"Broker {elect.leader} was elected leader of {one.partition} in epoch {one.epoch} at {seconds(elect.time)} from outside "
        f"the ISR, which nobody had asked for."
    )
    evidence = {
        "leader": elect.leader, "leader_epoch": one.epoch, "isr": elect.isr, "how": elect.how, "trace_index": one.at,
    }  # fmt: skip
    return Anomaly(NAME, VIOLATION, elect.time, one.partition, message, None, (), evidence)
