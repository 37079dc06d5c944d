"""Long lists of one kind of anomaly, told as the first few and a number."""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly

MOST_PER_KEY = 20
"""So many client anomalies of one name are told one by one for each key."""


def shortened(anomalies: Sequence[Anomaly]) -> list[Anomaly]:
    """Anomalies of one name and one key: violations first, and what is beyond `MOST_PER_KEY` as one anomaly."""
    ordered = sorted(anomalies, key=lambda anomaly: anomaly.verdict != VIOLATION)
    told, rest = ordered[:MOST_PER_KEY], ordered[MOST_PER_KEY:]
    if rest:
        first = rest[0]
        violations = sum(anomaly.verdict == VIOLATION for anomaly in rest)
        breaks = tuple(dict.fromkeys(promise for anomaly in rest for promise in anomaly.breaks))
        told.append(
            Anomaly(
                first.name,
                VIOLATION if violations else first.verdict,
                min(anomaly.time for anomaly in rest),
                first.partition,
                f"There are {len(rest)} more of {first.name} in {first.partition}.",
                None if violations else first.clause,
                breaks,
                {"count": len(rest), "violations": violations},
            )
        )
    return told
