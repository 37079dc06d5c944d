"""The statistical ideas of a comparison, each defined once: rates, paired tests and differences, times."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from scipy.special import bdtr, ndtri  # scipy.stats would take a second to load

CONFIDENCE = 0.95
Z = float(ndtri((1 + CONFIDENCE) / 2))


def wilson(hits: int, runs: int) -> tuple[float, float]:
    """Wilson's 95 % score interval of `hits` out of `runs`; everything is possible (0, 1) when nothing was run."""
    if runs == 0:
        return 0.0, 1.0
    middle = (2 * hits + Z**2) / (2 * (runs + Z**2))
    reach = Z * math.sqrt(4 * hits * (runs - hits) / runs + Z**2) / (2 * (runs + Z**2))
    return 0.0 if hits == 0 else middle - reach, 1.0 if hits == runs else middle + reach


def mcnemar(only_first: int, only_second: int) -> float:
    """Exact two-sided McNemar p-value from the discordant pairs: plans that hit one variant and not the other.

    Under the null hypothesis a discordant pair falls to either side with probability 1/2. No discordant pair: 1.
    """
    discordant = only_first + only_second
    if discordant == 0:
        return 1.0
    return min(1.0, 2 * float(bdtr(min(only_first, only_second), discordant, 0.5)))


def paired_difference(only_first: int, only_second: int, pairs: int) -> tuple[float, float]:
    """Tango's 95 % score interval of the share hit in the first minus the share hit in the second of `pairs` pairs.

    The limits are the differences d at which (b - c - n d)² = z² n (2 q + d (1 - d)), where b and c count the pairs that hit the
    first and the second only, n all pairs, and q is the likeliest share of pairs of the second kind if d were true. The interval
    needs no large numbers: it is sound without a discordant pair too, and then Wilson's limit to both sides.

    Source: T. Tango 1998, Equivalence test and confidence interval for the difference in proportions for the paired-sample
    design, Statistics in Medicine 17, 891-908.

    Returns:
        (low, high), between -1 and 1; everything is possible if there was no pair.
    """
    if pairs == 0:
        return -1.0, 1.0
    return -_farthest(only_second, only_first, pairs), _farthest(only_first, only_second, pairs)


def _farthest(b: int, c: int, n: int) -> float:
    """The largest difference that the score test does not reject, by halving."""

    def possible(d: float) -> bool:
        linear = (2 * n - b + c) * d - b - c
        q = (math.sqrt(max(linear**2 + 8 * n * c * d * (1 - d), 0.0)) - linear) / (4 * n)
        return (b - c - n * d) ** 2 <= Z**2 * n * (2 * q + d * (1 - d))

    low, high = (b - c) / n, 1.0
    if possible(high):
        return high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if possible(middle) else (low, middle)
    return low


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given: whoever calls those below 0.05 differences is wrong about any of them with
    probability 0.05 at most, however the tests depend on each other.

    Source: S. Holm 1979, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6, 65-70.
    """
    adjusted = [0.0] * len(p_values)
    least = 0.0
    for place, which in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, min(1.0, (len(p_values) - place) * p_values[which]))
        adjusted[which] = least
    return adjusted


def share_hit(hit_at: Mapping[int, int], judged: int) -> tuple[tuple[int, float], ...]:
    """Cumulative incidence: the share of judged runs hit by each moment. It ends at the share of runs hit.

    Nothing is censored. A judged run was watched to its end, and its end is the plan's: everything healed, everything read
    back. What was not hit by then never will be, so a quiet run stays among the runs at risk for good, however early it ended.
    (Kaplan and Meier's estimator, which drops quiet runs when they end, answers for runs that somebody stopped watching. Here it
    would make 100 % of two stuck runs of a hundred, for what is stuck is watched longest.) Runs that nobody could judge are left
    out, as in every rate.

    Args:
        hit_at: Time of the first hit, µs → how many judged runs were hit then.
        judged: Number of judged runs, hit or quiet.

    Returns:
        Steps (time in µs, share hit from then on), in order of time; empty if there was no hit.

    Raises:
        ValueError: More runs were hit than judged.
    """
    if sum(hit_at.values()) > judged:
        raise ValueError(f"{sum(hit_at.values())} runs hit of {judged} judged")
    steps: list[tuple[int, float]] = []
    so_far = 0
    for time in sorted(hit_at):
        so_far += hit_at[time]
        steps.append((time, so_far / judged))
    return tuple(steps)
