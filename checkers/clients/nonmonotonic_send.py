"""`nonmonotonic-send`: a process sent to a key twice in a row, and the second record is not after the first.

The first must be acknowledged: one whose outcome is unknown may take effect later. The second must not have failed, and counts if
somebody knows where it is.

>>> from tidemark.checkers import History, check, polled, sent
>>> verdict = check(History.of(ops=[
...     sent(1, "p1", "t-0", 7, 1),
...     sent(2, "p1", "t-0", 8, 0),
...     polled(3, "c1", "t-0", (0, 8), (1, 7)),
... ]))
>>> [anomaly.name for anomaly in verdict.anomalies]
['nonmonotonic-send', 'G0-process']
>>> print(verdict.anomalies[0].message)
p1 sent record 8 of t-0 at offset 0 at 0.000002 s, after record 7 at offset 1 at 0.000001 s: it went back.
"""

from __future__ import annotations

from tidemark.checkers.clients.step_anomalies import step_anomalies
from tidemark.checkers.history.columns.steps import Steps
from tidemark.checkers.verdict.verdict import VIOLATES, Anomaly, Judgement

NAME = "nonmonotonic-send"


def nonmonotonic_sends(steps: Steps, judgement: Judgement = VIOLATES) -> list[Anomaly]:
    """All of them, of all keys."""
    rows = steps.between_sends
    return step_anomalies(NAME, judgement, steps, rows.where(rows.delta < 1))
