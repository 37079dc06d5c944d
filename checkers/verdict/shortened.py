"""Long lists of one kind of anomaly, told as the first few and a number."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, Judgement

MOST_PER_KEY = 20
"""So many client anomalies of one name are told one by one for each key."""


def shortened(anomalies: Sequence[Anomaly], untold: Mapping[Judgement, int] | None = None) -> list[Anomaly]:
    """Anomalies of one name and one key: violations first, and what is beyond `MOST_PER_KEY` as one for each judgement, behind.

    Args:
        anomalies: them.
        untold: how many more there are that nobody has put into words.
    """
    if not anomalies:
        return []
    ordered = sorted(anomalies, key=lambda anomaly: (anomaly.verdict != VIOLATION, anomaly.time))
    told, rest = ordered[:MOST_PER_KEY], ordered[MOST_PER_KEY:]
    left: Counter[tuple[str, str | None]] = Counter((one.verdict, one.clause) for one in rest)
    breaks: defaultdict[tuple[str, str | None], dict[str, None]] = defaultdict(dict)
    for anomaly in rest:
        breaks[anomaly.verdict, anomaly.clause].update(dict.fromkeys(anomaly.breaks))
    for judgement, count in (untold or {}).items():
        left[judgement.verdict, judgement.clause] += count
        breaks[judgement.verdict, judgement.clause].update(dict.fromkeys(judgement.breaks))
    last = max(told, key=lambda anomaly: anomaly.time)
    return told + [
        more_of(last, Judgement(*kind, tuple(breaks[kind])), count, where=f" in {last.partition}")
        for kind, count in left.items()
    ]


def more_of(last: Anomaly, judgement: Judgement, count: int, where: str) -> Anomaly:
    """So many more, in one, to stand behind the last that is told."""
    are = "is 1" if count == 1 else f"are {count}"
    evidence = {"count": count, "violations": count if judgement.verdict == VIOLATION else 0}
    return Anomaly(
        last.name,
        judgement.verdict,
        last.time,
        last.partition,
        f"There {are} more of {last.name}{where}.",
        judgement.clause,
        judgement.breaks,
        evidence,
    )
