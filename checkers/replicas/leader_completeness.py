"""`leader-completeness`: an elected leader misses records below the true high watermark, the highest any leader
reached.

One anomaly per election, with the range of what is missing; it is a violation if the loss of any of those
records is.

>>> from tidemark.checkers import History, check
>>> verdict = check(History.of(trace=[
...     (10, 1, "lead", "t-0", 1, 0, 0, (1, 2)),
...     (20, 1, "append", "t-0", 0, 1, (7,)),
...     (30, 1, "hw", "t-0", 1, 1, True),
...     (40, 2, "lead", "t-0", 2, 0, 0, (2,)),
... ]))
>>> print(verdict.anomalies[1].message)
Broker 2 became leader of t-0 in epoch 2 at 0.000040 s without 1 committed record, from offset 0 to 0.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

from tidemark.checkers.replicas.baselines import Loss
from tidemark.checkers.replicas.committed import Committed
from tidemark.checkers.verdict.verdict import PERMITTED, VIOLATION, Anomaly, Judgement, seconds

NAME = "leader-completeness"


def incomplete_leaders(
    committed: Committed, fate: Callable[[Loss], Judgement], time_of: Callable[[Loss], int]
) -> list[Anomaly]:
    """The elections among the losses, each as one anomaly."""
    missing = [loss for loss in committed.losses if loss.how == "election" and loss.commit_leader is not None]
    elections = groupby(missing, key=lambda loss: (loss.partition, loss.destroyed))
    return [_anomaly(list(losses), fate, time_of) for _, losses in elections]


def _anomaly(losses: list[Loss], fate: Callable[[Loss], Judgement], time_of: Callable[[Loss], int]) -> Anomaly:
    loss = losses[0]
    fates = [fate(one) for one in losses]
    violation = any(one.verdict == VIOLATION for one in fates)
    time = time_of(loss)
    first, last = min(one.offset for one in losses), max(one.offset for one in losses)
    records = "1 committed record" if len(losses) == 1 else f"{len(losses)} committed records"
    message = (
        f"Broker {loss.leader.node} became leader of {loss.partition} in epoch "
        f"{loss.leader_epoch} at {seconds(time)} without "
        f"{records}, from offset {first} to {last}."
    )
    evidence = {
        "leader": loss.leader.node,
        "leader_epoch": loss.leader_epoch,
        "first_offset": first,
        "last_offset": last,
        "count": len(losses),
        "trace_index": loss.destroyed,
    }
    breaks = tuple(dict.fromkeys(promise for one in fates for promise in one.breaks))
    verdict, clause = (VIOLATION, None) if violation else (PERMITTED, fates[0].clause)
    return Anomaly(NAME, verdict, time, loss.partition, message, clause, breaks, evidence)
