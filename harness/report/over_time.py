"""What all figures over the time of a history share: its axis, and the faults, named in a strip on top and shaded below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from tidemark.checkers.verdict.visible import visible
from tidemark.harness.report.fault_spans import FaultSpan, episodes
from tidemark.harness.report.style import GRID, INK, MUTED, SMALL, new_figure
from tidemark.harness.report.words import SECOND

WIDTH: Final = 10.4  # inches
STRIP_ROW: Final = 0.19  # inches for one kind of fault
MOST_STRIP_ROWS: Final = 12
SHADE: Final = "#E3E3E3"
FAULT: Final = "#555555"

OUTCOME_COLOURS: Final = ("#0072B2", "#E69F00", "#B0006B")
OUTCOME_MARKERS: Final = ("o", "^", "X")
OUTCOME_LINES: Final = ("-", "--", ":")
OUTCOME_WORDS: Final = ("ok", "info (unknown)", "fail")
"""Outcomes differ in marker and line style too, never in colour alone."""

Look = dict[str, Any]
"""How a line looks, in a figure and in its legend, as matplotlib's arguments."""

KEY_LIKE: Final = 28
"""So many letters of a name fit beside an axis."""


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """Where time runs in a figure, from `begin` to `end` µs, and what struck meanwhile."""

    begin: int
    end: int
    faults: Sequence[FaultSpan]

    @property
    def origin(self) -> int:
        """What the axis calls zero, µs: zero, unless the history begins so late that nothing could be told apart."""
        return self.begin if self.begin > 10 * (self.end - self.begin) else 0

    def at(self, time: float) -> float:
        """A time in seconds on the axis."""
        return (time - self.origin) / SECOND

    @property
    def label(self) -> str:
        """What to write under the axis."""
        if self.origin:
            return f"time after the first operation (at {self.origin / SECOND:.3f} s), seconds"
        return "time, seconds"


def panels(axis: TimeAxis, heights: Sequence[float]) -> tuple[Figure, list[Axes]]:
    """A figure with a panel of each height (inches), one above the other, under the strip of faults; shaded where any lasted."""
    rows = _strip_rows(axis.faults)
    strip = STRIP_ROW * len(rows) + 0.08 if rows else 0.0
    figure = new_figure(WIDTH, strip + sum(heights) + 0.75)
    ratios = [strip, *heights] if rows else list(heights)
    grid = figure.add_gridspec(len(ratios), 1, height_ratios=ratios)
    first = figure.add_subplot(grid[1 if rows else 0])
    below = [figure.add_subplot(grid[row], sharex=first) for row in range(2 if rows else 1, len(ratios))]
    axes = [first, *below]
    if rows:
        _strip(figure.add_subplot(grid[0], sharex=first), axis, rows)
    margin = (axis.end - axis.begin) * 0.01 or 1
    first.set_xlim(axis.at(axis.begin - margin), axis.at(axis.end + margin))
    for panel in axes:
        shade(panel, axis)
        panel.tick_params(axis="x", labelbottom=panel is axes[-1])
    axes[-1].set_xlabel(axis.label)
    return figure, axes


def shade(panel: Axes, axis: TimeAxis) -> None:
    """Grey where a fault lasts, a dotted line where one only struck."""
    for episode in episodes(axis.faults):
        if episode.end > episode.start:
            panel.axvspan(axis.at(episode.start), axis.at(episode.end), color=SHADE, linewidth=0, zorder=0)
        else:
            panel.axvline(axis.at(episode.start), color=FAULT, linewidth=0.9, linestyle=":", zorder=0)


def _strip_rows(faults: Sequence[FaultSpan]) -> dict[str, int]:
    """Kind of fault → its row; from the twelfth on they share the last."""
    kinds = list(dict.fromkeys(fault.kind for fault in faults))
    return {kind: min(row, MOST_STRIP_ROWS - 1) for row, kind in enumerate(kinds)}


def _strip(panel: Axes, axis: TimeAxis, rows: dict[str, int]) -> None:
    count = max(rows.values()) + 1
    for fault in axis.faults:
        row = rows[fault.kind]
        begin, end = axis.at(fault.start), axis.at(fault.end)
        if end > begin:
            panel.barh(row, end - begin, left=begin, height=0.62, color=FAULT, alpha=0.75, linewidth=0)
        if fault.start >= axis.begin:
            panel.plot([begin], [row], marker="|", color=INK, markersize=6, markeredgewidth=1.4, clip_on=False)
    names = [short(kind) for kind in rows][:count]
    if len(rows) > count:
        names[-1] = f"{len(rows) - count + 1} more kinds"
    panel.set_yticks(range(count), names, fontsize=SMALL, color=MUTED)
    panel.set_ylim(count - 0.5, -0.5)
    panel.tick_params(axis="both", length=0, labelbottom=False)
    for side in ("left", "bottom"):
        panel.spines[side].set_visible(False)


def short(name: str) -> str:
    """A name that fits beside an axis."""
    name = visible(name)
    return name if len(name) <= KEY_LIKE else f"{name[: KEY_LIKE - 1]}…"


def grid_of(panel: Axes) -> None:
    """Faint lines for the eye to read heights by."""
    panel.grid(axis="y", color=GRID, linewidth=0.6)
    panel.set_axisbelow(True)


def above(panel: Axes, handles: Sequence[Line2D]) -> None:
    """The legend over a panel, where it hides nothing; at the right, for its title is at the left."""
    panel.legend(handles=handles, loc="lower right", bbox_to_anchor=(1, 1.0), ncols=8, frameon=False,
                 borderaxespad=0.1, handletextpad=0.5, columnspacing=1.4)  # fmt: skip


def titled(panel: Axes, words: str) -> None:
    """The title over a panel, at the left."""
    panel.set_title(short(words), loc="left", fontsize=SMALL + 0.5, fontweight="bold")


PLAIN_NUMBERS: Final = FuncFormatter(lambda value, _: f"{value:,.10g}")
PERCENT: Final = FuncFormatter(lambda share, _: f"{100 * share:g} %")
