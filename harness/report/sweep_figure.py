"""The figure of a sweep: the share of runs with a violation in each cell, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tidemark.harness.report.style import GRID, MARKERS, MUTED, SMALL, VARIANTS, looks, new_figure
from tidemark.harness.report.sweep import Sweep, SweptCell

PANEL: Final = (2.6, 1.9)  # inches
SPREAD: Final = 0.5  # of the room between two values, over which variants stand side by side


def violations_by_cell(sweep: Sweep) -> Figure:
    """Dots with 95 % intervals. The last axis lies along the panels; the one before it has a column of them for each value, and
    those before that a row for each choice of their values. All panels have one scale.
    """
    *others, along = sweep.axes
    across = others[-1:]
    down = others[:-1]
    columns = list(product(*(sweep.axes[axis] for axis in across)))
    rows = list(product(*(sweep.axes[axis] for axis in down)))
    cells: dict[tuple[str, ...], SweptCell] = {
        tuple(cell.at[axis] for axis in sweep.axes): cell for cell in sweep.cells
    }
    with looks():
        width, height = max(PANEL[0] * len(columns) + 0.6, 4.8), PANEL[1] * len(rows) + 1.0
        figure = new_figure(width, height)
        panels = figure.subplots(len(rows), len(columns), sharex=True, sharey=True, squeeze=False)
        for (place, row), (beside, column) in product(enumerate(rows), enumerate(columns)):
            axes = panels[place][beside]
            for number, value in enumerate(sweep.axes[along]):
                cell = cells.get((*row, *column, value))
                if cell is not None:
                    _draw(axes, cell, number)
            axes.set_xticks(range(len(sweep.axes[along])), sweep.axes[along])
            axes.set_xlim(-0.5, len(sweep.axes[along]) - 0.5)
            axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
            axes.grid(axis="y", color=GRID, linewidth=0.6)
            if not any((*row, *column, value) in cells for value in sweep.axes[along]):
                axes.text(0.5, 0.5, "cannot be", transform=axes.transAxes, ha="center", va="center", color=MUTED)
            if place == 0:
                axes.set_title(_words(across, column), fontsize=SMALL)
            if beside == 0:
                axes.set_ylabel(_words(down, row), fontsize=SMALL)
            if place == len(rows) - 1:
                axes.set_xlabel(along)
        highest = max(
            (one.violating.high for cell in sweep.cells for one in cell.variants if one.violating.runs), default=1
        )
        panels[0][0].set_ylim(0, min(1.05 * highest, 1.02))
        figure.supylabel("judged runs with a violation (95 % interval)", fontsize=SMALL)
        handles = [
            Line2D([], [], color=_colour(which), marker=_marker(which), linestyle="-", markersize=5, label=name)
            for which, name in enumerate(sweep.variants)
        ]
        figure.legend(handles=handles, loc="outside upper left", ncols=max(int(width / 1.9), 1), frameon=False)
        return figure


def _words(names: Sequence[str], values: Sequence[str]) -> str:
    """Lines that say where on these axes."""
    return "\n".join(f"{name} {value}" for name, value in zip(names, values, strict=True))


def _draw(axes: Axes, cell: SweptCell, number: int) -> None:
    of = len(cell.variants)
    for which, one in enumerate(cell.variants):
        rate, colour = one.violating, _colour(which)
        if not rate.runs:
            continue
        x = number + SPREAD * ((which + 0.5) / of - 0.5)
        axes.plot([x, x], [rate.low, rate.high], color=colour, linewidth=1.4)
        face = "white" if rate.hits == 0 else colour
        axes.plot(
            [x], [rate.share], marker=_marker(which), color=colour, markerfacecolor=face, markersize=5, clip_on=False
        )


def _colour(which: int) -> str:
    return VARIANTS[which % len(VARIANTS)]


def _marker(which: int) -> str:
    return MARKERS[(which + which // len(VARIANTS)) % len(MARKERS)]
