"""`int-send-skip`: one operation sent two records to a key one after the other, and records of others lie between.

Informational: Kafka's transactions do not keep the writes of others out (Jepsen's ``allowed-error-types``).

>>> from tidemark.checkers import History, Op, check, polled, sent
>>> verdict = check(History.of(ops=[
...     Op(1, "p1", "ok", "txn", (("send", "t-0", (0, 7)), ("send", "t-0", (2, 8)))),
...     sent(2, "p2", "t-0", 9, 1),
...     polled(3, "c1", "t-0", (0, 7), (1, 9), (2, 8)),
... ]))
>>> [anomaly.name for anomaly in verdict.anomalies]
['int-send-skip', 'G0']
>>> print(verdict.anomalies[0].message)
p1 sent record 8 of t-0 at offset 2 at 0.000001 s, after record 7 at offset 0 in the same operation: it skipped 9.
"""

from __future__ import annotations

from tidemark.checkers.clients.step_anomalies import step_anomalies
from tidemark.checkers.history.columns.steps import Steps
from tidemark.checkers.verdict.verdict import INFORMS, Anomaly

NAME = "int-send-skip"


def int_send_skips(steps: Steps) -> list[Anomaly]:
    """All of them, of all keys."""
    rows = steps.inside_sends
    return step_anomalies(NAME, INFORMS, steps, rows.where(rows.delta > 1))
