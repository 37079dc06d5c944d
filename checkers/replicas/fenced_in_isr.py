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

from collections.abc import Iterable, Sequence

from tidemark.checkers.history.history import TraceEvent
from tidemark.checkers.history.turning_points import TurningPoint
from tidemark.checkers.verdict.verdict import NEAR_MISS, Anomaly, seconds

NAME = "fenced-in-isr"
_FENCING = ("fence", "unfence", "register")
_TOLD = frozenset({*_FENCING, "elect", "isr-change"})


def fenced_in_isrs(points: Iterable[TurningPoint]) -> list[Anomaly]:
    """All of a run."""
    told = [event for _, event in points if event[2] in _TOLD]
    if not any(event[2] == "unfence" for event in told):
        return []
    fenced: dict[int, int] = {}
    leaders: dict[str, tuple[int, int]] = {}
    seen: set[tuple[str, int, int]] = set()
    found = []
    for event in told:
        time, name, partition = event[0], event[2], event[3]
        if name in _FENCING:
            if name == "unfence":
                fenced.pop(event[4], None)
            else:
                fenced.setdefault(event[4], time)
            continue
        if name == "elect":
            leaders[partition] = event[4], event[5]
        leader, epoch = leaders.get(partition, (-1, -1))
        isr = event[6] if name == "elect" else event[4]
        for member in isr if leader >= 0 else ():
            if member in fenced and (partition, epoch, member) not in seen:
                seen.add((partition, epoch, member))
                found.append(_anomaly(event, leader, epoch, isr, member, fenced[member]))
    return found


def _anomaly(event: TraceEvent, leader: int, epoch: int, isr: Sequence[int], member: int, since: int) -> Anomaly:
    time, partition = event[0], event[3]
    did = f"elects broker {leader} for" if event[2] == "elect" else "changes the ISR of"
    message = (
        f"The controller {did} {partition} in epoch {epoch} at {seconds(time)} with the ISR {list(isr)}, of which it had fenced "
        f"{member} at {seconds(since)}."
    )
    evidence = {"node": member, "leader": leader, "leader_epoch": epoch, "isr": list(isr), "since": since}
    return Anomaly(NAME, NEAR_MISS, time, partition, message, evidence=evidence)
