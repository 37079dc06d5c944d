"""`fenced-leader`: the controller elects a broker that it has fenced.

A fenced broker is not there for the cluster: it serves nobody, and must not be elected (KIP-631, KAFKA-19522). A partition that it
leads has a leader by name and none in fact, and nobody looks for another. Said only of traces that tell who is unfenced: those of
KRaft. A leader that stays what it is, is not elected.

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(trace=[
...     (1, 0, "unfence", "", 1), (2, 0, "unfence", "", 2),
...     (5, 0, "elect", "t-0", 1, 1, (1,), (), "initial", True, 0),
...     (8, 0, "fence", "", 1),
...     (8, 0, "elect", "t-0", -1, 2, (), (), "offline", True, 1),
...     (9, 0, "elect", "t-0", 1, 3, (1,), (), "last-known", False, 2),
... ]))
>>> print(verdict.named("fenced-leader")[0].message)
The controller elects broker 1 leader of t-0 in epoch 3 at 0.000009 s, which it had fenced at 0.000008 s.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.checkers.history.trace_events import KIND, Elect, Fence, Register, Unfence
from tidemark.checkers.history.turning_points import TurningPoint
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "fenced-leader"
_KINDS = {kind.kind: kind for kind in (Fence, Unfence, Register, Elect)}


def fenced_leaders(points: Sequence[TurningPoint]) -> list[Anomaly]:
    """All of a run."""
    if "unfence" not in {event[KIND] for _, event in points}:
        return []
    fenced: dict[int, int] = {}
    leaders: dict[str, int] = {}
    found = []
    for index, one in points:
        event = _KINDS[one[KIND]](one) if one[KIND] in _KINDS else None
        if isinstance(event, Unfence):
            fenced.pop(event.broker, None)
        elif isinstance(event, (Fence, Register)):
            fenced.setdefault(event.broker, event.time)
        elif isinstance(event, Elect):
            if event.leader in fenced and event.leader != leaders.get(event.partition, -1):
                found.append(_anomaly(event, fenced[event.leader], index))
            leaders[event.partition] = event.leader
    return found


def _anomaly(elect: Elect, since: int, index: int) -> Anomaly:
    leader, epoch = elect.leader, elect.leader_epoch
    message = (
        f"The controller elects broker {leader} leader of {elect.partition} in epoch {epoch} at {seconds(elect.time)}, which it "
        f"had fenced at {seconds(since)}."
    )
    evidence = {"leader": leader, "leader_epoch": epoch, "how": elect.how, "since": since, "trace_index": index}
    return Anomaly(NAME, VIOLATION, elect.time, elect.partition, message, None, (), evidence)
