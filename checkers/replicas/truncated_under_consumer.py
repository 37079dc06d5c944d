"""`truncated-under-consumer`: a consumer had been given a committed record that a later leader does not have.

What it has done with the record cannot be taken back, and its position points into another log: it may skip as many records as were
lost, or find its offset out of range. Judged as the loss of the record; told with the first poll that returned it, once per key.

>>> from tidemark.checkers import History, check, polled
>>> verdict = check(History.of(ops=[polled(35, "c1", "t-0", (0, 7))], trace=[
...     (10, 1, "lead", "t-0", 1, 0, 0, (1, 2)),
...     (20, 1, "append", "t-0", 0, 1, (7,)),
...     (30, 1, "hw", "t-0", 1, 1, True),
...     (40, 2, "lead", "t-0", 2, 0, 0, (2,)),
... ]))
>>> print(next(one for one in verdict.anomalies if one.name == "truncated-under-consumer").message)
c1 had been given record 7 of t-0 (offset 0) at 0.000035 s, which broker 2, leader of epoch 2, did not have at 0.000040 s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tidemark.checkers.history.history import Op, Value
from tidemark.checkers.replicas.baselines import Loss
from tidemark.checkers.replicas.committed import Committed
from tidemark.checkers.replicas.unsettled_reads import answers
from tidemark.checkers.verdict.verdict import VIOLATES, Anomaly, Judgement, seconds

NAME = "truncated-under-consumer"


def truncated_under_consumers(
    answered: Sequence[Op],
    committed: Committed,
    fates: Mapping[tuple[str, Value], Judgement],
) -> list[Anomaly]:
    """One anomaly for each key, of the first loss of a record that somebody had been given.

    Args:
        answered: the operations that gave clients something, in order of time.
        committed: what leaders did not have, after the whole trace.
        fates: how the loss of a record is judged.
    """
    lost: dict[tuple[str, int, Value], Loss] = {}
    for loss in committed.losses:
        lost.setdefault((loss.partition, loss.offset, loss.record[1]), loss)
    if not lost:
        return []
    found: dict[str, dict[tuple[str, int, Value], tuple[Op, Loss]]] = {}
    for op in answered:
        for key, records in answers(op):
            for offset, value in records:
                place = (key, offset, value)
                gone = lost.get(place)
                if gone is not None and op.time < committed.time_at(gone.destroyed):
                    found.setdefault(key, {}).setdefault(place, (op, gone))
    return [_anomaly(key, [*places.values()], fates, committed) for key, places in sorted(found.items())]


def _anomaly(
    key: str,
    reads: Sequence[tuple[Op, Loss]],
    fates: Mapping[tuple[str, Value], Judgement],
    committed: Committed,
) -> Anomaly:
    op, loss = min(reads, key=lambda read: read[1].destroyed)
    value, time = loss.record[1], committed.time_at(loss.destroyed)
    more = "" if len(reads) == 1 else f" (and {len(reads) - 1} more such records)"
    leader = f"broker {loss.leader.node}, leader of epoch {loss.leader_epoch}, did not have"
    message = (
        f"{op.process} had been given record {value} of {key} (offset {loss.offset}) at {seconds(op.time)}, which "
        f"{'no replica had' if loss.how == 'nowhere' else leader} at {seconds(time)}{more}."
    )
    evidence = {
        "process": op.process, "offset": loss.offset, "value": value, "read": op.time, "leader": loss.leader.node,
        "leader_epoch": loss.leader_epoch, "trace_index": loss.destroyed, "count": len(reads),
    }  # fmt: skip
    judged = fates.get((key, value), VIOLATES)
    return Anomaly(NAME, judged.verdict, time, key, message, judged.clause, judged.breaks, evidence)
