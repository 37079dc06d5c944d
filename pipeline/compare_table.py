"""A comparison on the terminal. What violates a promise and what it permits stand in tables of their own."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from harness.report.model import AnomalyCount, Comparison, Rate, VariantResult
from harness.report.words import (
    bounds,
    compared,
    finding,
    interval,
    p_of,
    percent,
    points,
    primary_words,
    recovered,
    seconds,
)

LOSS = "acked loss: violation"
MEASURES: tuple[tuple[str, Callable[[VariantResult], str]], ...] = (
    ("runs", lambda v: str(v.runs)),
    ("unknown", lambda v: f"{v.unknown}" + (f" ({v.errors} raised)" if v.errors else "")),
    ("judged by", lambda v: ", ".join(v.contracts)),
    ("acked loss", lambda v: f"{v.any_loss.hits}/{v.any_loss.runs}"),
    (LOSS, lambda v: _rate(v.loss)),
    ("acked loss: permitted only", lambda v: str(v.any_loss.hits - v.loss.hits)),
    ("first violation, if any (median)", lambda v: seconds(v.first_violation.p50)),
    ("availability (mean, p5)", lambda v: f"{percent(v.availability.mean)}, {percent(v.availability.p5)}"),
    (
        "recovery (median, p95)",
        lambda v: ", ".join(recovered(time, v.recovery) for time in (v.recovery.p50, v.recovery.p95)),
    ),
    ("never recovered", lambda v: f"{v.recovery.never.hits}/{v.recovery.never.runs}"),
    ("elections (unclean)", lambda v: f"{v.elections} ({v.unclean_elections})"),
    ("epoch requests per election", lambda v: f"{v.epoch_round_trips / v.elections:.2f}" if v.elections else "–"),
    ("truncations", lambda v: str(v.truncations)),
    ("records cut off logs", lambda v: str(v.records_truncated)),
)


def print_comparison(comparison: Comparison, console: Console) -> None:
    """Print the finding, what was compared, the variants' numbers, and the anomalies."""
    console.print(escape(finding(comparison)), style="bold", highlight=False)
    console.print(escape(compared(comparison)), highlight=False)
    if comparison.pairs:
        console.print(escape(primary_words(comparison)), highlight=False)
    console.print(_variants(comparison))
    console.print(
        _anomalies(
            comparison,
            f"violations: runs hit (95 %); plans hitting only this : only {comparison.baseline}, p, difference (95 %)",
            lambda row: row.violation,
            _violation,
        )
    )
    if comparison.variants[0].near_misses:
        console.print(_near_misses(comparison))
    missed = comparison.never_exercised
    if missed:
        console.print(f"no run exercised: {', '.join(missed)}", highlight=False, markup=False)
    console.print(
        _anomalies(comparison, "permitted: runs hit", lambda row: row.permitted, lambda row: str(row.permitted.hits))
    )


def _variants(comparison: Comparison) -> Table:
    table = _table(comparison, comparison.campaign)
    for name, measure in MEASURES:
        table.add_row(name, *(escape(measure(variant)) for variant in comparison.variants))
        if name == LOSS and any(variant.unknown for variant in comparison.variants):
            table.add_row("… if none or all of the unknown lost", *(bounds(v.loss) for v in comparison.variants))
    for promise in comparison.variants[0].promises:
        hits = (str(variant.promises[promise].hits) for variant in comparison.variants)
        table.add_row(f"acked loss against {promise}", *hits)
    return table


def _anomalies(
    comparison: Comparison, title: str, rate: Callable[[AnomalyCount], Rate], words: Callable[[AnomalyCount], str]
) -> Table:
    """One row for each anomaly that some variant showed in the sense of `rate`."""
    table = _table(comparison, title)
    for name in comparison.anomaly_names:
        rows = [variant.count(name) for variant in comparison.variants]
        if any(row and rate(row).hits for row in rows):
            table.add_row(escape(name), *(words(row) if row else "–" for row in rows))
    return table


def _near_misses(comparison: Comparison) -> Table:
    """One row for each kind: runs in which one election more could have lost what was acknowledged."""
    table = _table(comparison, "near misses: runs hit (95 %)")
    for name in comparison.variants[0].near_misses:
        table.add_row(escape(name), *(_rate(variant.near_misses[name]) for variant in comparison.variants))
    return table


def _table(comparison: Comparison, title: str) -> Table:
    table = Table(title=escape(title), title_justify="left")
    table.add_column("")
    for variant in comparison.variants:
        table.add_column(escape(variant.variant), justify="right")
    return table


def _violation(row: AnomalyCount) -> str:
    pair = row.paired
    paired = (
        f"\n{pair.only_here} : {pair.only_baseline}, {p_of(pair)}{' (primary)' if pair.primary else ''}\n{points(pair)}"
        if pair and pair.only_here + pair.only_baseline
        else ""
    )
    return f"{_rate(row.violation)}{paired}"


def _rate(rate: Rate) -> str:
    return f"{rate.hits}/{rate.runs} ({interval(rate)})"
