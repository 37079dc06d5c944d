"""Which part of what clients asked succeeded, over time; and how long recovery took after each time of faults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from tidemark.harness.report.over_time import PERCENT, Look, TimeAxis, above, grid_of, panels, short, titled
from tidemark.harness.report.recovery import Recovery
from tidemark.harness.report.style import MARKERS, MUTED, SMALL, VARIANTS
from tidemark.harness.report.windows import Availability, Floats, Windows
from tidemark.harness.report.words import SECOND

MOST_KEYS: Final = 16
"""So many keys have a row; those that were worst off."""

_SHARES = LinearSegmentedColormap.from_list("shares", ["#FFFFFF", "#D6E6F4", "#9CC4E4", "#0072B2"])
_NONE: Final = "#8B1A1A"


def worst_off(keys: Sequence[Availability]) -> list[Availability]:
    """Those to draw, by name."""
    ranked = sorted(keys, key=lambda one: (one.total or 0.0, one.name))[:MOST_KEYS]
    return sorted(ranked, key=lambda one: one.name)


def availability_over_time(
    kinds: Sequence[Availability], keys: Sequence[Availability], windows: Windows, axis: TimeAxis
) -> Figure:
    """A line for all, and a row of windows for each kind and each key: the bluer the more succeeded, red where nothing did."""
    rows = [*kinds, *keys]
    figure, (line, strip) = panels(axis, [1.4, 0.24 * len(rows) + 0.25])
    _line(line, kinds[0], windows, axis)
    _rows(strip, rows, len(kinds), windows, axis)
    return figure


def _line(panel: Axes, all_: Availability, windows: Windows, axis: TimeAxis) -> None:
    edges = [axis.at(time) for time in windows.edges]
    edges[-1] = max(axis.at(windows.end), edges[-2])
    panel.stairs(all_.share, edges, baseline=None, color=VARIANTS[0], linewidth=1.6, zorder=3)
    middles = windows.edges[:-1] + windows.covered / 2
    none = all_.unavailable
    panel.set_ylim(0, 1.04)
    panel.yaxis.set_major_formatter(PERCENT)
    panel.set_ylabel("succeeded")
    grid_of(panel)
    titled(panel, "all operations" if all_.name == "all" else all_.name)
    if none.any():
        cross: Look = {"marker": "X", "linestyle": "none", "color": _NONE, "markersize": 6}
        panel.plot([axis.at(time) for time in middles[none]], np.zeros(none.sum()), clip_on=False, zorder=4, **cross)
        above(panel, [Line2D([], [], label="unavailable", **cross)])


def _rows(panel: Axes, rows: Sequence[Availability], kinds: int, windows: Windows, axis: TimeAxis) -> None:
    edges = np.array([axis.at(time) for time in windows.edges])
    edges[-1] = max(axis.at(windows.end), edges[-2])
    for row, one in enumerate(rows):
        none, asked = one.unavailable, (one.begun > 0) & ~one.unavailable
        colours = [_SHARES(share) for share in one.share[asked].tolist()]
        where = (row - 0.41, 0.82)
        panel.broken_barh(_cells(edges, asked), where, facecolors=colours, edgecolor="white", linewidth=0.4, zorder=3)
        panel.broken_barh(
            _cells(edges, none), where, facecolors=_NONE, edgecolor="white", linewidth=0.4, hatch="xxxx", zorder=3
        )
    panel.set_yticks(range(len(rows)), [short(one.name) for one in rows], fontsize=SMALL)
    panel.set_ylim(len(rows) - 0.4, -0.6)
    panel.tick_params(axis="y", length=0)
    if len(rows) > kinds:
        panel.axhline(kinds - 0.5, color=MUTED, linewidth=0.8, zorder=4)
    patches = [Patch(facecolor=_SHARES(share), edgecolor=MUTED, linewidth=0.4, label=f"{share:.0%}".replace("%", " %"))
               for share in (1.0, 0.66, 0.33)]  # fmt: skip
    patches.append(Patch(facecolor=_NONE, edgecolor="white", hatch="xxxx", linewidth=0.4, label="unavailable"))
    panel.legend(handles=patches, loc="lower right", bbox_to_anchor=(1, 1.0), ncols=4, frameon=False, borderaxespad=0.1,
                 handletextpad=0.5, columnspacing=1.4)  # fmt: skip
    titled(panel, "by kind and key" if len(rows) > kinds else "by kind")


def _cells(edges: Floats, wanted: NDArray[np.bool_]) -> list[tuple[float, float]]:
    """The beginnings and lengths of some windows."""
    return list(zip(edges[:-1][wanted].tolist(), np.diff(edges)[wanted].tolist(), strict=True))


def recovery_over_time(found: Sequence[Recovery], axis: TimeAxis) -> Figure:
    """Where each time of faults ends: how long until the first success of each kind and of the last key, until rates are back."""
    figure, (panel,) = panels(axis, [2.2])
    series: dict[str, list[tuple[float, float]]] = {}
    for recovery in found:
        at = axis.at(recovery.episode.end)
        for name, time in recovery.first_success.items():
            _add(series, f"{name}: first ok", at, time)
        if len(recovery.by_key) > 1 and recovery.slowest_key:
            _add(series, "last key: first ok", at, recovery.slowest_key[1])
        for name, time in recovery.rate_back.items():
            _add(series, f"{name}: rate back", at, time)
    handles = []
    for row, (name, points) in enumerate(series.items()):
        look: Look = {
            "color": VARIANTS[row % len(VARIANTS)],
            "marker": MARKERS[row % len(MARKERS)],
            "linestyle": "none",
            "markersize": 6.5,
        }
        back = name.endswith("rate back")
        panel.plot(
            *zip(*points, strict=True), markerfacecolor="none" if back else None, zorder=4, clip_on=False, **look
        )
        handles.append(Line2D([], [], label=short(name), markerfacecolor="none" if back else None, **look))
    panel.set_ylim(0, 1.1 * max((y for points in series.values() for _, y in points), default=1) or 1)
    panel.set_ylabel("seconds after the end")
    grid_of(panel)
    panel.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=4, frameon=False, borderaxespad=0.1)
    return figure


def _add(series: dict[str, list[tuple[float, float]]], name: str, at: float, time: int | None) -> None:
    if time is not None:
        series.setdefault(name, []).append((at, time / SECOND))
