"""A comparison on the terminal. What violates a promise and what it permits stand in tables of their own."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tidemark.harness.report import words
from tidemark.harness.report.answer import answers, oddities
from tidemark.harness.report.comparison import ANY, AnomalyCount, Comparison, Rate, VariantResult

LOSS = "… violation (95 %)"
MEASURES: tuple[tuple[str, Callable[[VariantResult], str]], ...] = (
    ("runs", lambda v: str(v.runs)),
    ("unknown", lambda v: f"{v.unknown}" + (f" ({v.errors} raised)" if v.errors else "")),
    ("judged by", lambda v: ", ".join(v.contracts)),
    ("runs with acked loss", lambda v: str(v.any_loss.hits)),
    (LOSS, lambda v: _rate(v.loss)),
    ("… permitted only", lambda v: str(v.permitted_only)),
    ("first violation (median)", lambda v: words.seconds(v.first_violation.p50)),
    ("availability, mean", lambda v: words.percent(v.availability.mean)),
    ("availability, p5", lambda v: words.percent(v.availability.p5)),
    ("recovery, median", lambda v: words.recovered(v.recovery.p50, v.recovery)),
    ("recovery, p95", lambda v: words.recovered(v.recovery.p95, v.recovery)),
    ("never recovered", lambda v: str(v.recovery.never.hits)),
    ("elections", lambda v: str(v.elections)),
    ("… unclean", lambda v: str(v.unclean_elections)),
    ("epoch requests/election", lambda v: f"{v.epoch_round_trips / v.elections:.2f}" if v.elections else "–"),
    ("… answers needed: 1 / 2 / more", words.rounds),
    ("truncations", lambda v: str(v.truncations)),
    ("records cut off logs", lambda v: str(v.records_truncated)),
    ("high watermarks written", lambda v: str(v.hw_checkpoints) if v.hw_checkpoints else "–"),
)


def print_comparison(comparison: Comparison, console: Console, *, between_campaigns: bool = False) -> None:
    """Print the finding, what was compared, the variants' numbers, and the anomalies.

    Between campaigns nothing was settled before they ran, neither which comparison is the primary one nor what is older.
    """
    if not between_campaigns:
        console.print(escape(words.compared(comparison)), highlight=False)
    for answer in answers(comparison):
        console.print(escape(answer.plain), style="bold", highlight=False)
    for oddity in () if between_campaigns else oddities(comparison):
        console.print(escape(oddity), highlight=False)
    if comparison.pairs and between_campaigns:
        console.print(escape(_pairs(comparison)), highlight=False)
    elif comparison.pairs:
        console.print(escape(words.primary_words(comparison)), highlight=False)
    console.print(_variants(comparison))
    console.print(
        _anomalies(
            comparison,
            "violations: runs hit, of those judged",
            lambda row: row.violation,
            lambda row: str(row.violation.hits),
        )
    )
    if comparison.pairs:
        console.print(_paired(comparison))
    if comparison.variants[0].near_misses:
        console.print(_near_misses(comparison))
    missed = comparison.never_exercised
    if missed:
        console.print(f"no run exercised: {', '.join(missed)}", highlight=False, markup=False)
    console.print(
        _anomalies(comparison, "permitted: runs hit", lambda row: row.permitted, lambda row: str(row.permitted.hits))
    )


def _pairs(comparison: Comparison) -> str:
    """How far two campaigns can be held against each other."""
    pairs = {
        variant.variant: row.paired.pairs
        for variant in comparison.variants
        if (row := variant.count(ANY)) and row.paired
    }
    told = ", ".join(f"{variant} {count}" for variant, count in pairs.items())
    return (
        f"Plans that are the same, and judged, as under {comparison.baseline}: {told}. Nothing was settled before all had run, "
        "so all p-values are corrected together."
    )


def _variants(comparison: Comparison) -> Table:
    table = _table(comparison, comparison.campaign)
    for name, measure in MEASURES:
        table.add_row(name, *(escape(measure(variant)) for variant in comparison.variants))
        if name == LOSS and any(variant.unknown for variant in comparison.variants):
            table.add_row("… with the unknown", *(words.bounds(v.loss) for v in comparison.variants))
    for promise in comparison.promises:
        hits = (str(v.promises[promise].hits) if promise in v.promises else "–" for v in comparison.variants)
        table.add_row(f"loss against {promise}", *hits)
    return table


def _anomalies(
    comparison: Comparison, title: str, rate: Callable[[AnomalyCount], Rate], cell: Callable[[AnomalyCount], str]
) -> Table:
    """One row for each anomaly that some variant showed in the sense of `rate`."""
    table = _table(comparison, title)
    for name in comparison.anomaly_names:
        rows = [variant.count(name) for variant in comparison.variants]
        if any(row and rate(row).hits for row in rows):
            table.add_row(escape(name), *(cell(row) if row else "–" for row in rows))
    return table


def _near_misses(comparison: Comparison) -> Table:
    """One row for each kind: runs in which one election more could have lost what was acknowledged."""
    table = _table(comparison, "near misses: runs hit")
    for name in comparison.variants[0].near_misses:
        table.add_row(escape(name), *(str(variant.near_misses[name].hits) for variant in comparison.variants))
    return table


def _table(comparison: Comparison, title: str) -> Table:
    table = _bare(title)
    for variant in comparison.variants:
        table.add_column(escape(variant.variant), justify="right", overflow="fold")
    return table


def _bare(title: str) -> Table:
    """Narrow enough for five variants in 80 columns; names are never cut, in a pipe neither."""
    table = Table(
        title=f"\n[bold]{escape(title)}[/]", title_justify="left", title_style="", box=None, padding=(0, 1, 0, 0)
    )
    table.add_column("", no_wrap=True)
    return table


def _paired(comparison: Comparison) -> Table:
    """One row for each variant but the baseline: any violation, on the plans that both were judged on."""
    table = _bare(f"any violation, against {comparison.baseline} on the same plans")
    for column in ("only here", "only there", "points (95 %)", "p"):
        table.add_column(column, justify="right")
    for variant in comparison.variants:
        row = variant.count(ANY)
        pair = row.paired if row else None
        if pair is not None:
            p_value = f"{words.p_of(pair).removeprefix('p ')}{' (primary)' if pair.primary else ''}"
            difference = words.points(pair, "").replace("  ", " ")
            table.add_row(
                escape(variant.variant),
                str(pair.only_here),
                str(pair.only_baseline),
                difference,
                p_value,
            )
    return table


def _rate(rate: Rate) -> str:
    narrow = words.interval(rate).replace(" ", "")
    return f"{rate.hits}\n{narrow}"
