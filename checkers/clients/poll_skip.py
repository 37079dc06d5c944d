"""`poll-skip`: a process polled a key twice in a row, and records that somebody saw lie between.

The second poll may end as it likes, the first was ok. With ``subscribe`` the system may move a consumer's position, and it is
informational (Jepsen's ``allowed-error-types``). Not over records that a client may have deleted.

>>> from tidemark.checkers import History, check, polled, sent
>>> verdict = check(History.of(ops=[
...     sent(1, "p1", "t-0", 7, 0),
...     sent(2, "p1", "t-0", 8, 1),
...     sent(3, "p1", "t-0", 9, 2),
...     polled(4, "c1", "t-0", (0, 7)),
...     polled(5, "c1", "t-0", (2, 9)),
...     polled(6, "c2", "t-0", (0, 7), (1, 8), (2, 9)),
... ]))
>>> [anomaly.name for anomaly in verdict.anomalies]
['poll-skip']
>>> print(verdict.anomalies[0].message)
c1 polled record 9 of t-0 at offset 2 at 0.000005 s, after record 7 at offset 0 at 0.000004 s: it skipped 8.
"""

from __future__ import annotations

from tidemark.checkers.clients.check_clients import ClientRun
from tidemark.checkers.clients.step_anomalies import step_anomalies
from tidemark.checkers.verdict.verdict import INFORMS, Anomaly

NAME = "poll-skip"


def poll_skips(run: ClientRun) -> list[Anomaly]:
    """All of them, of all keys."""
    skips, judgement = run.skips(run.steps.between_polls)
    return step_anomalies(NAME, INFORMS if run.steps.subscribed else judgement, run.steps, skips)
