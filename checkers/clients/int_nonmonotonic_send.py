"""`int-nonmonotonic-send`: one operation sent two records to a key one after the other, and the second is not after the first.

>>> from tidemark.checkers import History, Op, check, polled
>>> verdict = check(History.of(ops=[
...     Op(1, "p1", "ok", "send", (("send", "t-0", (1, 7)), ("send", "t-0", (0, 8)))),
...     polled(3, "c1", "t-0", (0, 8), (1, 7)),
... ]))
>>> [anomaly.name for anomaly in verdict.anomalies]
['int-nonmonotonic-send']
>>> print(verdict.anomalies[0].message)
p1 sent record 8 of t-0 at offset 0 at 0.000001 s, after record 7 at offset 1 in the same operation: it went back.
"""

from __future__ import annotations

from tidemark.checkers.clients.step_anomalies import step_anomalies
from tidemark.checkers.history.columns.steps import Steps
from tidemark.checkers.verdict.verdict import VIOLATES, Anomaly, Judgement

NAME = "int-nonmonotonic-send"


def int_nonmonotonic_sends(steps: Steps, judgement: Judgement = VIOLATES) -> list[Anomaly]:
    """All of them, of all keys."""
    rows = steps.inside_sends
    return step_anomalies(NAME, judgement, steps, rows.where(rows.delta < 1))
