"""The statistical ideas of a comparison, each defined once: a rate's interval, a paired test, the share hit over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

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


def share_hit(hits: Iterable[int], judged: int) -> tuple[tuple[int, float], ...]:
    """Cumulative incidence: the share of judged runs hit by each moment. It ends at the share of runs hit.

    Nothing is censored. A judged run was watched to its end, and its end is the plan's: everything healed, everything read
    back. What was not hit by then never will be, so a quiet run stays among the runs at risk for good, however early it ended.
    (Kaplan and Meier's estimator, which drops quiet runs when they end, answers for runs that somebody stopped watching. Here it
    would make 100 % of two stuck runs of a hundred, for what is stuck is watched longest.) Runs that nobody could judge are left
    out, as in every rate.

    Args:
        hits: Time of the first hit of every judged run that was hit, µs.
        judged: Number of judged runs, hit or quiet.

    Returns:
        Steps (time in µs, share hit from then on), in order of time; empty if there was no hit.

    Raises:
        ValueError: More runs were hit than judged.
    """
    hit_at = Counter(hits)
    if hit_at.total() > judged:
        raise ValueError(f"{hit_at.total()} runs hit of {judged} judged")
    steps: list[tuple[int, float]] = []
    so_far = 0
    for time in sorted(hit_at):
        so_far += hit_at[time]
        steps.append((time, so_far / judged))
    return tuple(steps)


def time_reached(times: Mapping[int, int], never: int, percent: int) -> int | None:
    """A percentile of the time to an event that some runs never reach: the first moment by which `percent` % of all runs had.

    A run that never did was given up at the bound for coming to rest, which no run that did exceeds; all that is known is that
    it would have taken longer than every other, so that is how it is ranked (worst rank).

    Args:
        times: Time to the event → how many runs took so long, µs.
        never: How many runs never got there.
        percent: 1 to 100.

    Returns:
        µs; `None` if fewer than `percent` % of the runs ever got there, or there were none.
    """
    wanted = -(-percent * (sum(times.values()) + never) // 100)
    reached = 0
    for time in sorted(times):
        reached += times[time]
        if reached >= wanted:
            return time
    return None
