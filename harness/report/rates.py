"""How many operations a second ended, and how (Jepsen's rate)."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tidemark.harness.report import over_time
from tidemark.harness.report.operations import OUTCOMES, Operations
from tidemark.harness.report.windows import Windows, rates


def rates_over_time(operations: Operations, fs: Sequence[int], windows: Windows, axis: over_time.TimeAxis) -> Figure:
    """Completions a second by outcome, at the middle of each window; a panel for each kind, a line for each outcome that was."""
    figure, axes = over_time.panels(axis, [1.6] * len(fs))
    x = [axis.at(time) for time in windows.edges[:-1] + windows.covered / 2]
    for panel, f in zip(axes, fs, strict=True):
        handles = []
        for outcome, found in enumerate(rates(operations, f, windows)):
            if not found.any():
                continue
            look: over_time.Look = {
                "color": over_time.OUTCOME_COLOURS[outcome],
                "linestyle": over_time.OUTCOME_LINES[outcome],
                "marker": over_time.OUTCOME_MARKERS[outcome],
                "markersize": 3.4,
                "linewidth": 1.4,
            }
            panel.plot(x, found, zorder=3 + len(OUTCOMES) - outcome, **look)
            handles.append(Line2D([], [], label=over_time.OUTCOME_WORDS[outcome], **look))
        panel.set_ylim(bottom=0)
        panel.yaxis.set_major_formatter(over_time.PLAIN_NUMBERS)
        panel.set_ylabel("per second")
        over_time.grid_of(panel)
        over_time.titled(panel, operations.fs[f])
        over_time.above(panel, handles)
    return figure
