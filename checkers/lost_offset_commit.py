"""`lost-offset-commit`: a consumer group's commit was acknowledged, and when all is over it is in no broker's log.

A group's later commit covers an earlier one, so who asks for what is committed misses most of what was lost; the logs show it. It
is looked for where as many copies of the coordinator's log are told as the partition has replicas.

>>> from tidemark.checkers import History, check
>>> from tidemark.checkers.history.history import Op
>>> ops = [Op(1, "c1", "invoke", "write", ("g", 10)), Op(2, "c1", "ok", "write", ("g", 10))]
>>> ops += [Op(5, "c1", "invoke", "write", ("g", 20)), Op(6, "c1", "ok", "write", ("g", 20))]
>>> log = (90, 1, "coordinator-log", "__consumer_offsets-0", 0, 1, ((0, 1, 4, 111),), ((0, "g", 20),))
>>> verdict = check(History.of(model="key-value", contract="durable", faults=0, replicas={"t-0": [1]}, ops=ops, trace=[log]))
>>> verdict.valid, verdict.anomalies[0].message
('invalid', "Group g's commit of offset 10, acknowledged to c1 at 0.000002 s, is in no broker's log when all is over.")
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from tidemark.checkers.history.trace_events import CoordinatorLog
from tidemark.checkers.verdict.verdict import Anomaly, seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.checkers.history.history import History
    from tidemark.checkers.verdict.verdict import Judgement

NAME = "lost-offset-commit"
OF_GROUPS = "__consumer_offsets"


def lost_offset_commits(history: History, judgement: Judgement) -> Iterator[Anomaly]:
    """The anomalies of a run whose writes are commits of groups.

    Args:
        history: the run.
        judgement: how a loss is to be taken.
    """
    copies: defaultdict[str, list[CoordinatorLog]] = defaultdict(list)
    for log in CoordinatorLog.among(history.trace):
        if log.partition.startswith(OF_GROUPS):
            copies[log.partition].append(log)
    replicas = max(map(len, history.meta.get("replicas", {}).values()), default=0)
    if not copies or any(len(logs) < replicas for logs in copies.values()):
        return
    kept = {(group, offset) for logs in copies.values() for log in logs for _, group, offset in log.commits}
    for op in history.ops:
        if op.type == "ok" and op.f == "write" and tuple(op.value) not in kept:
            group, offset = op.value
            words = (
                f"Group {group}'s commit of offset {offset}, acknowledged to {op.process} at {seconds(op.time)}, is in no broker's "
                "log when all is over."
            )
            evidence = {"group": group, "offset": offset, "ack_process": op.process}
            yield Anomaly(NAME, judgement.verdict, op.time, "", words, judgement.clause, judgement.breaks, evidence)
