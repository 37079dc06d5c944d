"""`int-poll-skip`: one operation polled two records of a key one after the other, and records that somebody saw lie between.

>>> from tidemark.checkers import History, check, polled, sent
>>> verdict = check(History.of(ops=[
...     sent(1, "p1", "t-0", 7, 0),
...     sent(2, "p1", "t-0", 8, 1),
...     sent(3, "p1", "t-0", 9, 2),
...     polled(4, "c1", "t-0", (0, 7), (2, 9)),
...     polled(5, "c2", "t-0", (0, 7), (1, 8), (2, 9)),
... ]))
>>> [anomaly.name for anomaly in verdict.anomalies]
['int-poll-skip']
>>> print(verdict.anomalies[0].message)
c1 polled record 9 of t-0 at offset 2 at 0.000004 s, after record 7 at offset 0 in the same operation: it skipped 8.
"""

from __future__ import annotations

from tidemark.checkers.clients.check_clients import ClientRun
from tidemark.checkers.clients.step_anomalies import step_anomalies
from tidemark.checkers.verdict.verdict import Anomaly

NAME = "int-poll-skip"


def int_poll_skips(run: ClientRun) -> list[Anomaly]:
    """All of them, of all keys."""
    skips, judgement = run.skips(run.steps.inside_polls)
    return step_anomalies(NAME, judgement, run.steps, skips)
