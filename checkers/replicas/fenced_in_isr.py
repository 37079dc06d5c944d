"""`fenced-in-isr`: the controller goes by an ISR with a broker in it that it has fenced.

A fenced broker is not there for the cluster, so it may neither be elected nor stand for what is committed (KIP-841). A partition
without a leader may keep its last member, fenced, until it comes back. A *near miss*, told once per member and leader epoch. Said
only of traces that tell who is unfenced: those of KRaft.

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(trace=[
...     (1, 0, "unfence", "", 1), (2, 0, "unfence", "", 2),
...     (5, 0, "elect", "t-0", 1, 1, (1, 2), (), "initial", True, 0),
...     (8, 0, "fence", "", 2),
...     (9, 0, "elect", "t-0", 1, 2, (1, 2), (), "preferred", True, 1),
... ]))
>>> print(verdict.anomalies[0].message)
The controller elects broker 1 for t-0 in epoch 2 at 0.000009 s with the ISR [1, 2], of which it had fenced 2 at 0.000008 s.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.checkers.history.trace_events import KIND, Elect, Fence, IsrChange, Register, Unfence
from tidemark.checkers.history.turning_points import TurningPoint
from tidemark.checkers.verdict.verdict import NEAR_MISS, Anomaly, seconds

NAME = "fenced-in-isr"
_KINDS = {kind.kind: kind for kind in (Fence, Unfence, Register, Elect, IsrChange)}


def fenced_in_isrs(points: Sequence[TurningPoint]) -> list[Anomaly]:
    """All of a run."""
    if "unfence" not in {event[KIND] for _, event in points}:
        return []
    told = [_KINDS[event[KIND]](event) for _, event in points if event[KIND] in _KINDS]
    fenced: dict[int, int] = {}
    leaders: dict[str, tuple[int, int]] = {}
    seen: set[tuple[str, int, int]] = set()
    found = []
    for event in told:
        if isinstance(event, Unfence):
            fenced.pop(event.broker, None)
        elif isinstance(event, (Fence, Register)):
            fenced.setdefault(event.broker, event.time)
        elif isinstance(event, (Elect, IsrChange)):
            if isinstance(event, Elect):
                leaders[event.partition] = event.leader, event.leader_epoch
            leader, epoch = leaders.get(event.partition, (-1, -1))
            for member in event.isr if leader >= 0 else ():
                if member in fenced and (event.partition, epoch, member) not in seen:
                    seen.add((event.partition, epoch, member))
                    found.append(_anomaly(event, leader, epoch, member, fenced[member]))
    return found


def _anomaly(event: Elect | IsrChange, leader: int, epoch: int, member: int, since: int) -> Anomaly:
    time, partition, isr = event.time, event.partition, event.isr
    did = f"elects broker {leader} for" if isinstance(event, Elect) else "changes the ISR of"
    message = (
        f"The controller {did} {partition} in epoch {epoch} at {seconds(time)} with the ISR {list(isr)}, of which it had fenced "
        f"{member} at {seconds(since)}."
    )
    evidence = {"node": member, "leader": leader, "leader_epoch": epoch, "isr": list(isr), "since": since}
    return Anomaly(NAME, NEAR_MISS, time, partition, message, evidence=evidence)
