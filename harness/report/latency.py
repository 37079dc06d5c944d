"""How long operations took: every one as a point, and quantiles over time (Jepsen's latency-raw and latency-quantiles)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

from tidemark.harness.report import over_time
from tidemark.harness.report.operations import OUTCOMES, Ints, Operations
from tidemark.harness.report.thinning import thinned
from tidemark.harness.report.windows import QUANTILES, Windows, latency_quantiles

MILLISECOND: Final = 1000  # µs
FLOOR_MS: Final = 0.001
"""What took less than a µs is drawn as one, for the axis is logarithmic."""

QUANTILE_COLOURS: Final = ("#0072B2", "#009E73", "#E69F00", "#8B1A1A")
QUANTILE_LINES: Final = ("-", "--", "-.", ":")
QUANTILE_MARKERS: Final = ("o", "s", "D", "^")
QUANTILE_WORDS: Final = ("median", "95 %", "99 %", "longest")


def points_to_draw(operations: Operations, fs: Sequence[int], windows: Windows) -> Ints:
    """The operations with a latency, thinned by kind, outcome and window if they are too many for a figure."""
    chosen = np.flatnonzero(operations.timed & np.isin(operations.f, np.array(fs, np.int64)))
    window = windows.of(operations.began[chosen])
    group = (operations.f[chosen] * len(OUTCOMES) + operations.outcome[chosen]) * len(windows) + window
    return chosen[thinned(group.astype(np.int64), operations.latency[chosen])]


def latency_points(operations: Operations, fs: Sequence[int], drawn: Ints, axis: over_time.TimeAxis) -> Figure:
    """A point for each operation in `drawn`, where it began; a panel for each kind."""
    figure, axes = over_time.panels(axis, [1.9] * len(fs))
    for panel, f in zip(axes, fs, strict=True):
        handles = []
        for outcome, _ in enumerate(OUTCOMES):
            some = drawn[(operations.f[drawn] == f) & (operations.outcome[drawn] == outcome)]
            if not len(some):
                continue
            look: over_time.Look = {
                "color": over_time.OUTCOME_COLOURS[outcome],
                "marker": over_time.OUTCOME_MARKERS[outcome],
                "markersize": 3.2 if outcome == 0 else 5.0,
                "linestyle": "none",
                "markeredgewidth": 0,
            }
            y = np.maximum(operations.latency[some] / MILLISECOND, FLOOR_MS)
            panel.plot([axis.at(time) for time in operations.began[some]], y, alpha=0.75, zorder=3 + outcome, **look)
            handles.append(Line2D([], [], label=over_time.OUTCOME_WORDS[outcome], **(look | {"markersize": 6})))
        _milliseconds(panel)
        over_time.titled(panel, operations.fs[f])
        over_time.above(panel, handles)
    return figure


def latency_over_time(operations: Operations, fs: Sequence[int], windows: Windows, axis: over_time.TimeAxis) -> Figure:
    """The quantiles of each window, at its middle; a panel for each kind."""
    figure, axes = over_time.panels(axis, [1.9] * len(fs))
    middles = windows.edges[:-1] + windows.covered / 2
    x = [axis.at(time) for time in middles]
    for panel, f in zip(axes, fs, strict=True):
        found = np.maximum(latency_quantiles(operations, f, windows) / MILLISECOND, FLOOR_MS)
        handles = []
        for row in reversed(range(len(QUANTILES))):
            look: over_time.Look = {
                "color": QUANTILE_COLOURS[row],
                "linestyle": QUANTILE_LINES[row],
                "marker": QUANTILE_MARKERS[row],
                "markersize": 3.4,
                "linewidth": 1.4,
            }
            panel.plot(x, found[row], zorder=3 + row, **look)
            handles.append(Line2D([], [], label=QUANTILE_WORDS[row], **look))
        _milliseconds(panel)
        over_time.titled(panel, operations.fs[f])
        over_time.above(panel, handles[::-1])
    return figure


def _milliseconds(panel: Axes) -> None:
    panel.set_yscale("log")
    panel.yaxis.set_major_formatter(over_time.PLAIN_NUMBERS)
    panel.minorticks_off()
    low, high = panel.get_ylim()
    if high / low < 4:
        low, high = low / 2, high * 2
        panel.set_ylim(low, high)
    panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 300 else (1,), numticks=12))
    panel.set_ylabel("latency, ms")
    over_time.grid_of(panel)
