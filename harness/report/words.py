"""Numbers and findings in words, the same in every table, figure and sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tidemark.checkers.marks import MARKS
from tidemark.harness.report.comparison import Comparison, Paired, Rate, Recovery, VariantResult

SECOND = 1_000_000  # µs
CLEAR = 0.05
"""A p-value below it is told as hardly chance."""


def percent(share: float | None, digits: int = 2) -> str:
    """A share as a percentage with up to `digits` significant digits below ten: `7.4 %`, `0.53 %`, `12 %`, `0 %`."""
    if share is None:
        return "–"
    value = 100 * share
    if value == 0 or value >= 99.95:  # rounds to 100
        return f"{value:.0f} %"
    if value >= 10:
        return f"{value:.1f} %"
    return f"{value:.{digits}g} %"


def interval(rate: Rate) -> str:
    """The 95 % interval: `5.4–10.0 %`."""
    return _between(rate.low, rate.high)


def bounds(rate: Rate) -> str:
    """The share if none and if all of the unknown runs were hit: `2.0–18.0 %`."""
    return _between(rate.least, rate.most)


def _between(least: float, most: float) -> str:
    low, high = 100 * least, 100 * most
    digits = 1 if high >= 1 else 2
    low_words = "0" if round(low, digits) == 0 else f"{low:.{digits}f}"
    return f"{low_words}–{high:.{digits}f} %"


def seconds(time_us: float | None, digits: int = 2) -> str:
    """A time as seconds: `3.25 s`."""
    return "–" if time_us is None else f"{time_us / SECOND:.{digits}f} s"


def milliseconds(time_us: float) -> str:
    """A latency: `0.043 ms`, `3.21 ms`, `1,204 ms`."""
    value = time_us / 1000
    digits = 3 if value < 1 else 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:,.{digits}f} ms"


def recovered(time_us: int | None, recovery: Recovery) -> str:
    """A percentile of the recovery times: `0.30 s`, or `never`."""
    return "never" if time_us is None and recovery.never.runs else seconds(time_us)


def rounds(variant: VariantResult) -> str:
    """How often followers needed one answer of their leader, two, or more: `5,103 / 4 / 0`; `–` where nobody asks."""
    counts = (variant.one_round, variant.two_rounds, variant.more_rounds)
    return " / ".join(f"{count:,}" for count in counts) if any(counts) else "–"


def p_words(p_value: float) -> str:
    """A p-value: `0.031`, `< 0.001`."""
    return "< 0.001" if p_value < 0.001 else f"{p_value:.2g}"


def p_of(pair: Paired) -> str:
    """The p-value to read: `p 0.031`, corrected unless the comparison is the primary one."""
    return f"p {p_words(pair.p_adjusted)}"


def clearly(pair: Paired) -> str:
    """`fewer` or `more` than the baseline, where the p-value to read is below `CLEAR`; else nothing."""
    if pair.p_adjusted >= CLEAR or pair.only_here == pair.only_baseline:
        return ""
    return "more" if pair.only_here > pair.only_baseline else "fewer"


def mark_in_short(name: str) -> str:
    """What has happened where a run came to a mark, without what is said of it in brackets."""
    return MARKS[name].partition(" (")[0]


def points(pair: Paired, unit: str = "points", lead: str = "") -> str:
    """The paired difference in percentage points, with its interval: `-7.4 points (-10.0 to -5.4)`."""
    shares = [100 * share for share in (pair.difference, pair.low, pair.high)]
    digits = 1 if max(map(abs, shares)) >= 1 else 2
    difference, low, high = (f"{share:.{digits}f}" if round(share, digits) else "0" for share in shares)
    return f"{difference} {unit} ({lead}{low} to {high})"


def primary_words(comparison: Comparison) -> str:
    """One sentence about the primary comparison, one about the others; nothing if nothing was compared."""
    pairs = comparison.pairs
    if not pairs:
        return ""
    others = sum(not pair.primary for pair in pairs)
    rest = "p-value is" if others == 1 else "p-values are"
    pair = next((pair for pair in pairs if pair.primary), None)
    if pair is None:
        return (
            f"No comparison is the primary one, as {comparison.baseline} is not the campaign's first variant: "
            f"all {others} {rest} corrected (Holm)."
        )
    number = "" if others == 1 else f"{others} "
    return (
        f"Primary comparison, {comparison.primary} against {pair.baseline}, any violation: of {pair.pairs} plans "
        f"{pair.only_here} hit only {comparison.primary} and {pair.only_baseline} only {pair.baseline}, a difference of "
        f"{points(pair, 'percentage points', '95 % interval ')}, {p_of(pair)}."
        f"{f' The other {number}{rest} corrected (Holm).' if others else ''}"
    )


def listed(names: list[str] | tuple[str, ...]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""


def compared(comparison: Comparison) -> str:
    """One sentence: what was compared, with what cluster."""
    variants = [variant.variant for variant in comparison.variants]
    if comparison.world == "imported":
        counts = listed([f"{variant.runs} of {variant.variant}" for variant in comparison.variants])
        return f"Imported histories were checked against what their protocols promise: {counts}."
    faults = {
        "intact": "crashes, pauses, network faults and clean elections; no power loss, no lost disks",
        "destructive": "crashes, pauses, network faults, power and disk loss and unclean elections",
        "machines": "crashes, pauses, network faults, power and disk loss, unclean elections, full and slow disks, clock jumps",
    }.get(comparison.profile, f"faults of the profile {comparison.profile}")
    many = len(variants) > 1
    where = "" if comparison.world == "sim" else " on real processes in containers"
    if comparison.system.startswith("kafka:"):
        where = f" on real brokers of Apache Kafka {comparison.system.removeprefix('kafka:')} in containers"
    elif comparison.system != "tidemark":
        where = f" on {comparison.system} in containers"
    clients = f" (clients: {asked_words(comparison.workload)})" if comparison.workload else ""
    if comparison.intensity != 1:
        faults += f", {comparison.intensity:g} times as many as usual"
    return (
        f"{listed(variants)} {'each met the same' if many else 'met'} {comparison.plans:,} random fault plans "
        f"(seed {comparison.seed}: {faults}){where}, with {_cluster(comparison.cluster)}{clients}, "
        "and every run's history was checked against what the protocol promises."
    )


def asked_words(workload: Mapping[str, float]) -> str:
    """What was asked of the clients: `5 producers and 40 sends a second of each`."""
    words = {
        "producers": "{:g} producer(s)",
        "rate": "{:g} send(s) a second of each",
        "batch": "at most {:g} record(s) in a send",
        "duration": "{:g} s of faults",
    }
    return listed(
        [words[name].format(value).replace("(s)", "" if value == 1 else "s") for name, value in workload.items()]
    )


def _cluster(cluster: Mapping[str, Any]) -> str:
    """What the promise depends on: `acks=all, 3 brokers, replication factor 3 and min ISR 2`."""
    settings = cluster["settings"]
    partitions = f"{cluster['partitions']} partitions, " if cluster["partitions"] > 1 else ""
    unclean = ", unclean leader election allowed" if settings["unclean_election"] else ""
    return (
        f"acks={cluster['acks']}, {cluster['brokers']} broker{'s' if cluster['brokers'] > 1 else ''}, {partitions}"
        f"replication factor {cluster['replication_factor']} and min ISR {settings['min_isr']}{unclean}"
    )
