"""Steps of a process through a key that are not by one record, told as anomalies: it skips what somebody saw, or goes back.

>>> from tidemark.checkers import History, Op, check, polled, sent

`poll-skip`: a process polled a key twice in a row, and records that somebody saw lie between.

The second poll may end as it likes, the first was ok. With ``subscribe`` the system may move a consumer's position, and it is
informational (Jepsen's ``allowed-error-types``).

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

`nonmonotonic-poll`: a process polled a key twice in a row, and began at or before the record with which it had ended.

Polls and judgement as of `poll-skip`.

>>> verdict = check(History.of(ops=[
...     sent(1, "p1", "t-0", 7, 0),
...     polled(2, "c1", "t-0", (0, 7)),
...     polled(3, "c1", "t-0", (0, 7)),
... ]))
>>> [anomaly.name for anomaly in verdict.anomalies]
['nonmonotonic-poll']
>>> print(verdict.anomalies[0].message)
c1 polled record 7 of t-0 at offset 0 at 0.000003 s, after record 7 at offset 0 at 0.000002 s: it went back.

`int-poll-skip`: one operation polled two records of a key one after the other, and records that somebody saw lie between.

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

`int-nonmonotonic-poll`: one operation polled two records of a key one after the other, and the second is not after the first.

>>> verdict = check(History.of(ops=[
...     sent(1, "p1", "t-0", 7, 0),
...     sent(2, "p1", "t-0", 8, 1),
...     polled(3, "c1", "t-0", (1, 8), (0, 7)),
... ]))
>>> [anomaly.name for anomaly in verdict.anomalies]
['int-nonmonotonic-poll']
>>> print(verdict.anomalies[0].message)
c1 polled record 7 of t-0 at offset 0 at 0.000003 s, after record 8 at offset 1 in the same operation: it went back.

`nonmonotonic-send`: a process sent to a key twice in a row, and the second record is not after the first.

Of sends that did not fail; those whose outcome is unknown count if somebody read them.

>>> verdict = check(History.of(ops=[
...     sent(1, "p1", "t-0", 7, 1),
...     sent(2, "p1", "t-0", 8, 0),
...     polled(3, "c1", "t-0", (0, 8), (1, 7)),
... ]))
>>> [anomaly.name for anomaly in verdict.anomalies]
['nonmonotonic-send', 'G0-process']
>>> print(verdict.anomalies[0].message)
p1 sent record 8 of t-0 at offset 0 at 0.000002 s, after record 7 at offset 1 at 0.000001 s: it went back.

`int-nonmonotonic-send`: one operation sent two records to a key one after the other, and the second is not after the first.

>>> verdict = check(History.of(ops=[
...     Op(1, "p1", "ok", "send", (("send", "t-0", (1, 7)), ("send", "t-0", (0, 8)))),
...     polled(3, "c1", "t-0", (0, 8), (1, 7)),
... ]))
>>> [anomaly.name for anomaly in verdict.anomalies]
['int-nonmonotonic-send']
>>> print(verdict.anomalies[0].message)
p1 sent record 8 of t-0 at offset 0 at 0.000001 s, after record 7 at offset 1 in the same operation: it went back.

`int-send-skip`: one operation sent two records to a key one after the other, and records of others lie between.

Informational: Kafka's transactions do not keep the writes of others out (Jepsen's ``allowed-error-types``).

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

from collections.abc import Callable, Mapping
from typing import Any, Final

from tidemark.checkers.clients.check_clients import ClientRun
from tidemark.checkers.history.columns.steps import MOST_SKIPPED, Step, StepRows, Steps
from tidemark.checkers.history.columns.versions import Sighting
from tidemark.checkers.verdict.shortened import shortened
from tidemark.checkers.verdict.verdict import INFORMS, Anomaly, Judgement, at_offset, seconds

STEP_ANOMALIES: Final[Mapping[str, tuple[str, Callable[[Steps], StepRows]]]] = {
    "poll-skip": ("A consumer passed over an offset that somebody saw.", lambda steps: steps.between_polls.skips()),
    "nonmonotonic-poll": ("A consumer went back between two polls.", lambda steps: steps.between_polls.back()),
    "int-poll-skip": (
        "One operation passed over an offset that somebody saw, between two of its records.",
        lambda steps: steps.inside_polls.skips(),
    ),
    "int-nonmonotonic-poll": (
        "One operation polled a record at or before one that it had polled already.",
        lambda steps: steps.inside_polls.back(),
    ),
    "nonmonotonic-send": ("A producer's later record has an earlier offset.", lambda steps: steps.between_sends.back()),
    "int-nonmonotonic-send": (
        "Of two records that one operation sent, the later has the earlier offset.",
        lambda steps: steps.inside_sends.back(),
    ),
    "int-send-skip": (
        "Between two records that one operation sent, somebody saw another.",
        lambda steps: steps.inside_sends.skips(),
    ),
}
"""Name → what happened, and which steps."""

_IF_SUBSCRIBED = ("poll-skip", "nonmonotonic-poll")


def step_anomalies(name: str, run: ClientRun) -> list[Anomaly]:
    """All of a name, of all keys; of each key the first ones, and a number."""
    informs = name == "int-send-skip" or (name in _IF_SUBSCRIBED and run.steps.subscribed)
    judgement = INFORMS if informs else run.ordered
    anomalies = []
    for key, told in run.steps.told(STEP_ANOMALIES[name][1](run.steps)):
        anomalies += shortened([_anomaly(name, judgement, key, step) for step in told])
    return anomalies


def _anomaly(name: str, judgement: Judgement, key: str, step: Step) -> Anomaly:
    before, after = step.before, step.after
    verb = "sent" if after.f == "send" else "polled"
    when = "in the same operation" if "int-" in name else f"at {seconds(before.time)}"
    message = (
        f"{after.process} {verb} record {after.value} of {key} {at_offset(after.offset)} at {seconds(after.time)}, "
        f"after record {before.value} {at_offset(before.offset)} {when}: {_how(step)}."
    )
    evidence = {
        "process": after.process,
        "delta": step.delta,
        "before": _record(before),
        "after": _record(after),
        "skipped": list(step.skipped),
    }
    return Anomaly(
        name, judgement.verdict, after.time, key, message, judgement.clause, judgement.breaks, evidence=evidence
    )


def _how(step: Step) -> str:
    if step.delta < 1:
        return "it went back"
    more = step.delta - 1 - MOST_SKIPPED
    return f"it skipped {', '.join(map(str, step.skipped))}" + (f" and {more} more" if more > 0 else "")


def _record(seen: Sighting) -> dict[str, Any]:
    return {"time": seen.time, "offset": seen.offset, "value": seen.value}
