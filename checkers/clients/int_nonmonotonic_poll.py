"""`int-nonmonotonic-poll`: one operation polled two records of a key one after the other, and the second is not after the first.

>>> from tidemark.checkers import History, check, polled, sent
>>> verdict = check(History.of(ops=[
...     sent(1, "p1", "t-0", 7, 0),
...     sent(2, "p1", "t-0", 8, 1),
...     polled(3, "c1", "t-0", (1, 8), (0, 7)),
... ]))
>>> [anomaly.name for anomaly in verdict.anomalies]
['int-nonmonotonic-poll']
>>> print(verdict.anomalies[0].message)
c1 polled record 7 of t-0 at offset 0 at 0.000003 s, after record 8 at offset 1 in the same operation: it went back.
"""

from __future__ import annotations

from tidemark.checkers.clients.step_anomalies import step_anomalies
from tidemark.checkers.history.columns.steps import Steps
from tidemark.checkers.verdict.verdict import VIOLATES, Anomaly, Judgement

NAME = "int-nonmonotonic-poll"


def int_nonmonotonic_polls(steps: Steps, judgement: Judgement = VIOLATES) -> list[Anomaly]:
    """All of them, of all keys."""
    rows = steps.inside_polls
    return step_anomalies(NAME, judgement, steps, rows.where(rows.delta < 1))
