"""The figures of a comparison: anomaly rates, time to the first violation, availability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tidemark.harness.report.comparison import ANY, Comparison, VariantResult
from tidemark.harness.report.style import GRID, MARKERS, MUTED, SMALL, VARIANTS, looks, new_figure
from tidemark.harness.report.words import SECOND

WIDTH = 9.6  # inches
LINES: tuple[Literal["-", "--", "-.", ":"], ...] = ("-", "--", "-.", ":")
ROOM_FOR_ROWS = 0.17  # inches for one dot
MOST_DRAWN = 6
"""Of more variants only those are drawn that violated something, where violations are what is drawn."""
LETTER, HANDLE = 0.075, 0.6  # inches that a letter of a legend takes, and what stands before and after a word


def rates(comparison: Comparison) -> Figure:
    """Dots with 95 % intervals: the share of judged runs with each violation, one dot per variant.

    The axis is logarithmic if the shares seen span more than a factor of 30; a rate of zero then stands at the left edge.
    """
    names = [name for name in comparison.anomaly_names if _ever(comparison, name)] or [ANY]
    seen = [row.violation.share for v in comparison.variants for row in v.anomalies if row.violation.hits]
    logarithmic = bool(seen) and max(seen) / min(seen) > 30
    floor = min(seen, default=0.01) / 5
    with looks():
        drawn = _drawn(comparison)
        block = len(drawn) + 1.2
        figure = new_figure(WIDTH, 1.2 + ROOM_FOR_ROWS * block * len(names))
        axes = figure.add_subplot()
        for place, name in enumerate(names):
            for below, (row, variant) in enumerate(drawn):
                count = variant.count(name)
                if count is None:
                    continue
                rate = count.violation
                y = place * block + below
                low, high, at = (max(x, floor) if logarithmic else x for x in (rate.low, rate.high, rate.share))
                colour, marker = _look(row)
                axes.plot([low, high], [y, y], color=colour, linewidth=1.6)
                axes.plot([at], [y], marker=marker, color=colour, markersize=6.5, linestyle="none", clip_on=False,
                          markerfacecolor="white" if rate.hits == 0 else colour)  # fmt: skip
                axes.text(high, y, f"  {rate.hits}", va="center", ha="left", fontsize=SMALL, color=MUTED)
            if place:
                axes.axhline(place * block - 1.1, color=GRID, linewidth=0.8)
        axes.set_yticks([place * block + (block - 2.2) / 2 for place in range(len(names))], names)
        axes.set_ylim(len(names) * block - 0.7, -1.0)
        if logarithmic:
            axes.set_xscale("log")
            axes.set_xlim(left=floor)
        else:
            axes.set_xlim(left=0)
        axes.xaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
        axes.grid(axis="x", color=GRID, linewidth=0.6)
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel(
            "share of judged runs with the violation, 95 % Wilson interval (number: runs hit; hollow: none)"
            + _left_out(comparison, drawn)
        )
        _legend(axes, drawn)
        return figure


def first_violation(comparison: Comparison) -> Figure:
    """Step curves: the share of judged runs that had violated something by each moment; each ends at the variant's rate."""
    with looks():
        figure = new_figure(WIDTH, 3.4)
        axes = figure.add_subplot()
        end = comparison.watched_us / SECOND
        drawn = _drawn(comparison)
        for row, variant in drawn:
            colour, marker = _look(row)
            times = [0.0, *(time / SECOND for time, _ in variant.hit_curve), end]
            shares = [0.0, *(share for _, share in variant.hit_curve)]
            shares.append(shares[-1])
            axes.step(times, shares, where="post", color=colour, linewidth=1.8, linestyle=LINES[row % len(LINES)],
                      marker=marker, markevery=[len(times) - 1], markersize=6, clip_on=False)  # fmt: skip
        axes.set_xlim(0, end)
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
        axes.grid(axis="y", color=GRID, linewidth=0.6)
        axes.set_xlabel("time since the run began, seconds" + _left_out(comparison, drawn))
        axes.set_ylabel("judged runs violated so far")
        _legend(axes, drawn, lines=True)
        return figure


def availability(comparison: Comparison) -> Figure:
    """Quantiles over runs of the share of sends acknowledged while faults went on."""
    with looks():
        figure = new_figure(WIDTH, 0.9 + 0.34 * len(comparison.variants))
        axes = figure.add_subplot()
        for row, variant in enumerate(comparison.variants):
            spread = variant.availability
            colour, marker = _look(row)
            quantiles = (spread.p5, spread.p25, spread.p50, spread.p75, spread.p95)
            known = [share for share in (*quantiles, spread.mean) if share is not None]
            if not known:
                continue
            p5, p25, p50, p75, p95, mean = known
            axes.plot([p5, p95], [row, row], color=colour, linewidth=1.4)
            axes.plot([p25, p75], [row, row], color=colour, linewidth=6, alpha=0.45, solid_capstyle="butt")
            axes.plot([p50], [row], marker="|", color=colour, markersize=13, markeredgewidth=2.5)
            axes.plot([mean], [row], marker=marker, color=colour, markersize=6.5)
        axes.set_yticks(range(len(comparison.variants)), [variant.variant for variant in comparison.variants])
        axes.set_ylim(len(comparison.variants) - 0.5, -0.5)
        axes.set_xlim(0, 1.01)
        axes.xaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
        axes.grid(axis="x", color=GRID, linewidth=0.6)
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel(
            "sends acknowledged while faults went on: 5–95 % of runs (line), middle half (bar), median (tick), mean"
        )
        return figure


def _ever(comparison: Comparison, name: str) -> bool:
    """Did any variant violate it?"""
    return any(_hits(variant, name) for variant in comparison.variants)


def _hits(variant: VariantResult, name: str) -> int:
    count = variant.count(name)
    return count.violation.hits if count else 0


def _drawn(comparison: Comparison) -> list[tuple[int, VariantResult]]:
    """The variants that a figure of violations shows, each with its place among all."""
    rows = list(enumerate(comparison.variants))
    if len(rows) <= MOST_DRAWN:
        return rows
    return [(row, variant) for row, variant in rows if _hits(variant, ANY)] or rows[:MOST_DRAWN]


def _left_out(comparison: Comparison, drawn: Sequence[tuple[int, VariantResult]]) -> str:
    """What the label of an axis says of the variants that are not drawn."""
    missing = len(comparison.variants) - len(drawn)
    return (
        f"\n({missing} of {len(comparison.variants)} variants violated nothing, and are not drawn)" if missing else ""
    )


def _look(row: int) -> tuple[str, str]:
    """No two rows look the same, unless there are very many."""
    again = row // len(VARIANTS)
    return VARIANTS[row % len(VARIANTS)], MARKERS[(row + again) % len(MARKERS)]


def _legend(axes: Axes, drawn: Sequence[tuple[int, VariantResult]], *, lines: bool = False) -> None:
    """The variants above the plot, as they look in it, so many side by side as the width has room for."""
    handles = []
    for row, variant in drawn:
        colour, marker = _look(row)
        style = LINES[row % len(LINES)] if lines else "-"
        handles.append(
            Line2D([], [], color=colour, marker=marker, linestyle=style, markersize=6, label=variant.variant)
        )
    widest = max((len(variant.variant) for _, variant in drawn), default=0) * LETTER + HANDLE
    columns = min(max(int(WIDTH * 0.8 / widest), 1), MOST_DRAWN)
    axes.legend(
        handles=handles, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=columns, frameon=False, borderaxespad=0.2
    )
