"""The verdict on a run whose clients worked on an object that is no log: a register, lists in transactions, a set, a queue …

``meta["model"]`` names the checker of its operations (`tidemark.checkers.objects.workloads.NAMES`). What nodes showed of themselves
counts besides: did they come to rest, and are their logs the same?

An object's promise is broken by what is lost as by what is read too late, and nobody can tell which it was. So where the promise of
records would have lapsed, as when a majority lost its disks, whatever contradicts the model is permitted.

>>> from tidemark.checkers import History, check
>>> from tidemark.checkers.history.history import Op
>>> ops = [Op(1, "c1", "invoke", "write", ("k", 1)), Op(2, "c1", "ok", "write", ("k", 1))]
>>> ops += [Op(3, "c2", "invoke", "read", ("k", None)), Op(4, "c2", "ok", "read", ("k", None))]
>>> verdict = check(History.of(untold=True, model="key-value", contract="majority", faults=0, ops=ops))
>>> verdict.valid, verdict.anomalies[0].name
('invalid', 'not-linearizable')
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.checkers.acknowledged import numbers_of
from tidemark.checkers.history.client_view import Counts
from tidemark.checkers.history.turning_points import turning_points
from tidemark.checkers.lost_offset_commit import lost_offset_commits
from tidemark.checkers.objects.workloads.by_name import NAMES, Asked, judge
from tidemark.checkers.objects.workloads.element_told import elements_told
from tidemark.checkers.objects.workloads.total_queue import NAME as TOTAL_QUEUE
from tidemark.checkers.replicas.broker_crashed import crashes, told_once
from tidemark.checkers.replicas.coordinator_divergence import coordinator_divergence
from tidemark.checkers.replicas.missing_evidence import missing_of_clients
from tidemark.checkers.replicas.untold import Untold
from tidemark.checkers.stats import TraceCounts, statistics
from tidemark.checkers.verdict.verdict import CLIENTS, CLIENTS_AND_REPLICAS, PERMITTED, VIOLATION, Anomaly, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.checkers.history.history import History
    from tidemark.checkers.verdict.result import Result
    from tidemark.checkers.verdict.verdict import Judgement

NOT_LINEARIZABLE = "not-linearizable"
NOTHING = Counts(0, {}, {}, None)


def check_object(history: History, own: str) -> Verdict:
    """Judge a run.

    Args:
        history: its operations are those of ``meta["model"]``.
        own: the promise that is judged by.

    Raises:
        ValueError: they are others, or there is no such model.
    """
    meta = history.meta
    if meta["model"] not in NAMES:
        raise ValueError(f"there is no model {meta['model']!r}; there are {', '.join(NAMES)}")
    untold = Untold(history, own)
    counts = TraceCounts.of(turning_points(history.trace))
    result = judge(history, meta["model"], asked=Asked(linearizable=True, drained=meta.get("read_back") is not False))
    operations = {name: count for name, count in result.parts["stats"].evidence.items() if name != "by_f"}
    found = result.parts[meta["model"]]
    lost = untold.judge("", None)
    anomalies = [*untold.find({}), *_contradictions(found, history, lost), *crashes(meta)]
    anomalies += [*coordinator_divergence(history.trace), *lost_offset_commits(history, lost)]
    anomalies = sorted(told_once(anomalies, history.trace, meta), key=lambda one: (one.time, one.partition))
    of_acked = {"acked": operations["ok"], **numbers_of((), 0, 0), "operations": operations, "object": found.message}
    stats = statistics(history, NOTHING, counts, of_acked, anomalies)
    judged_from = CLIENTS_AND_REPLICAS if untold.shows_logs else CLIENTS
    if any(one.verdict == VIOLATION for one in anomalies):
        return Verdict("invalid", own, tuple(anomalies), None, stats, judged_from)
    reasons = [found.unknown_because if found.valid == "unknown" else None, result.parts["stats"].unknown_because]
    if meta.get("faults") and not untold.was_struck:
        reasons.append("no fault of the plan could be suffered")
    unknown = "; ".join(filter(None, [*reasons, *missing_of_clients(history)])) or None
    return Verdict("unknown" if unknown else "valid", own, tuple(anomalies), unknown, stats, judged_from)


def _contradictions(found: Result, history: History, permitted: Judgement) -> Iterator[Anomaly]:
    """What the checker of the operations found, as anomalies.

    Args:
        found: what it said.
        history: of what it said that.
        permitted: how a loss is to be taken.
    """
    for one in _told(found, history):
        if one.verdict == VIOLATION and permitted.verdict == PERMITTED:
            yield Anomaly(one.name, PERMITTED, one.time, one.partition, one.message, permitted.clause, (), one.evidence)
        else:
            yield one


def _told(found: Result, history: History) -> Iterator[Anomaly]:
    for one in found.evidence.get("anomalies", ()):  # of transactions
        yield Anomaly(**{**one, "breaks": tuple(one["breaks"])})
    if found.valid != "invalid" or "anomalies" in found.evidence:
        return
    failures = found.evidence.get("failures", ())
    for failure in failures:
        time, key = failure["operation"]["time"], str(failure["key"] or "")
        yield Anomaly(NOT_LINEARIZABLE, VIOLATION, time, key, _sentence(failure["message"]), evidence=failure)
    if not failures:
        name = NOT_LINEARIZABLE if "failures" in found.evidence else found.checker
        told = elements_told(history.ops, found.evidence) if found.checker == TOTAL_QUEUE else []
        words = " ".join([_sentence(found.message), *(one.words for one in told)])
        if not told:
            yield Anomaly(name, VIOLATION, 0, "", words, evidence=found.evidence)
        else:
            lies_on = next(iter(history.meta.get("replicas", {})), "")
            evidence = {**found.evidence, "value": told[0].element}
            yield Anomaly(name, VIOLATION, told[0].time, lies_on, words, evidence=evidence)


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."
