"""`nonmonotonic-poll`: a process polled a key twice in a row, and began at or before the record with which it had ended.

The second poll may end as it likes, the first was ok. With ``subscribe`` the system may move a consumer's position, and it is
informational (Jepsen's ``allowed-error-types``).

>>> from tidemark.checkers import History, check, polled, sent
>>> verdict = check(History.of(ops=[
...     sent(1, "p1", "t-0", 7, 0),
...     polled(2, "c1", "t-0", (0, 7)),
...     polled(3, "c1", "t-0", (0, 7)),
... ]))
>>> [anomaly.name for anomaly in verdict.anomalies]
['nonmonotonic-poll']
>>> print(verdict.anomalies[0].message)
c1 polled record 7 of t-0 at offset 0 at 0.000003 s, after record 7 at offset 0 at 0.000002 s: it went back.
"""

from __future__ import annotations

from tidemark.checkers.clients.step_anomalies import step_anomalies
from tidemark.checkers.history.columns.steps import Steps
from tidemark.checkers.verdict.verdict import INFORMS, VIOLATES, Anomaly, Judgement

NAME = "nonmonotonic-poll"


def nonmonotonic_polls(steps: Steps, judgement: Judgement = VIOLATES) -> list[Anomaly]:
    """All of them, of all keys."""
    rows = steps.between_polls
    return step_anomalies(NAME, INFORMS if steps.subscribed else judgement, steps, rows.where(rows.delta < 1))
