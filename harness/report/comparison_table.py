"""A comparison as one table, a line for each variant: to be read, or to be worked with."""

from __future__ import annotations

from tidemark.harness.report import words
from tidemark.harness.report.compared_numbers import NUMBERS, numbers_of
from tidemark.harness.report.comparison import ANY, Comparison, Paired, VariantResult
from tidemark.harness.report.result_table import ResultTable, Value


def to_read(comparison: Comparison) -> ResultTable:
    """Runs that broke the promise, with the 95 % interval of their share, and each variant against the baseline."""
    columns = ("variant", "runs>", "violation>", "acked loss>", "permitted>", "availability>", "recovery>")
    against = (f"points against {comparison.baseline}>", "p>") if comparison.pairs else ()
    title = "Runs with a violation, of those judged (95 % Wilson interval)"
    return ResultTable((*columns, *against), [_row(one, paired=bool(against)) for one in comparison.variants], title)


def to_work_with(comparison: Comparison) -> ResultTable:
    """All numbers by themselves; times are µs. The p-value is corrected (Holm), but for that of the primary comparison."""
    more = ("p", "primary", "unknown", "errors", "permitted_loss", "availability", "recovery_p50_us", "elections")
    rows = []
    for one in comparison.variants:
        pair = _paired(one)
        primary = None if pair is None else int(pair.primary)
        judged = (primary, one.unknown, one.errors, one.permitted_only)
        rows.append((*numbers_of(one, pair), *judged, one.availability.mean, one.recovery.p50, one.elections))
    return ResultTable((*NUMBERS, *more), rows)


def _paired(one: VariantResult) -> Paired | None:
    row = one.count(ANY)
    return row.paired if row else None


def _row(one: VariantResult, *, paired: bool) -> tuple[Value, ...]:
    rate, pair = one.violating, _paired(one)
    of = f" of {rate.runs}" if rate.runs != one.runs else ""
    found: tuple[Value, ...] = (
        one.variant,
        one.runs,
        f"{rate.hits}{of} ({words.interval(rate)})",
        one.loss.hits,
        one.permitted_only,
        words.percent(one.availability.mean),
        words.recovered(one.recovery.p50, one.recovery),
    )
    if not paired:
        return found
    return (*found, None, None) if pair is None else (*found, words.points(pair, ""), words.p_words(pair.p_adjusted))
