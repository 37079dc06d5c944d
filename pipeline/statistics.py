"""The three statistical ideas of a comparison, each defined once: a rate's interval, a paired test, a time-to-event curve."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from scipy.stats import binomtest

CONFIDENCE = 0.95


def wilson(hits: int, runs: int) -> tuple[float, float]:
    """Wilson's 95 % score interval of `hits` out of `runs`; everything is possible (0, 1) when nothing was run."""
    if runs == 0:
        return 0.0, 1.0
    interval = binomtest(hits, runs).proportion_ci(confidence_level=CONFIDENCE, method="wilson")
    return float(interval.low), float(interval.high)


def mcnemar(only_first: int, only_second: int) -> float:
    """Exact two-sided McNemar p-value from the discordant pairs: plans that hit one variant and not the other.

    Under the null hypothesis a discordant pair falls to either side with probability 1/2. No discordant pair: 1.
    """
    discordant = only_first + only_second
    if discordant == 0:
        return 1.0
    return float(binomtest(only_first, discordant, 0.5).pvalue)


def share_hit(hits: Iterable[int], quiet: Iterable[int]) -> tuple[tuple[int, float], ...]:
    """Kaplan-Meier: the share of runs hit by each moment, when runs may end without a hit.

    Args:
        hits: Time of the first hit of every run that was hit, µs.
        quiet: Time at which every other run stopped being watched, µs. At equal times the hit comes first.

    Returns:
        Steps (time in µs, share hit from then on), in order of time; empty if there was no hit.
    """
    hit_at, quiet_at = Counter(hits), Counter(quiet)
    watched = hit_at.total() + quiet_at.total()
    untouched = 1.0
    steps: list[tuple[int, float]] = []
    for time in sorted(hit_at.keys() | quiet_at.keys()):
        if hit_at[time]:
            untouched *= 1 - hit_at[time] / watched
            steps.append((time, 1 - untouched))
        watched -= hit_at[time] + quiet_at[time]
    return tuple(steps)
