"""Which of a run's anomalies to shrink to: one that causes the others, if nobody asks for another."""

from __future__ import annotations

from tidemark.checkers import Anomaly, Verdict
from tidemark.checkers.verdict.verdict import GRAVITY, VIOLATION

TELLING = (
    "lost-committed-write",
    "divergence",
    "log-matching",
    "two-leaders",
    "unasked-election",
    "broken-log",
    "wrong-deletion",
    "acked-by-too-few",
    "broker-stopped",
    "broker-crashed",
    "stuck",
)
"""Names that tell why, those that others follow from first; all others come after them."""


def chosen(verdict: Verdict, name: str | None = None) -> Anomaly | None:
    """The anomaly to shrink to: the first violation of the most telling name; or of the name asked for, the gravest; None if there
    is none.
    """
    violations = [anomaly for anomaly in verdict.anomalies if anomaly.verdict == VIOLATION]
    found = violations if name is None else verdict.named(name)
    return min(found, key=_rank, default=None)


def _rank(anomaly: Anomaly) -> tuple[int, int, int]:
    told = TELLING.index(anomaly.name) if anomaly.name in TELLING else len(TELLING)
    return GRAVITY.index(anomaly.verdict), told, anomaly.time
