"""How far consumers were behind: records that nobody had polled yet, and each consumer's lag in time (Jepsen's unseen and
realtime-lag).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tidemark.checkers.clients.check_clients import clients_of
from tidemark.checkers.clients.realtime_lag import realtime_lags
from tidemark.checkers.clients.unread_over_time import unread_over_time
from tidemark.checkers.history.history import History
from tidemark.harness.report.operations import Ints
from tidemark.harness.report.over_time import PLAIN_NUMBERS, Look, TimeAxis, above, grid_of, panels, short, titled
from tidemark.harness.report.style import MARKERS, VARIANTS
from tidemark.harness.report.windows import Windows
from tidemark.harness.report.words import SECOND

MOST_LINES: Final = 6
"""So many keys and so many consumers are drawn; those that were furthest behind."""


@dataclass(frozen=True, slots=True)
class Series:
    """Of a key or a process (`name`) the most in each window; at a window's beginning what was left over counts. Records, or µs."""

    name: str
    most: Ints
    left: int

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "name": self.name,
            "most": int(self.most.max(initial=0)),
            "left": self.left,
            "by_window": self.most.tolist(),
        }


@dataclass(frozen=True, slots=True)
class Behind:
    """The series of all keys, and of all consumers, those that were furthest behind first."""

    unread: Sequence[Series] = ()
    lag_us: Sequence[Series] = ()

    def __bool__(self) -> bool:
        return any(one.most.any() for one in (*self.unread, *self.lag_us))

    def to_json(self) -> dict[str, Any]:
        """Plain values, by the names that Jepsen has for them."""
        return {
            "unseen": [one.to_json() for one in self.unread],
            "realtime_lag_us": [one.to_json() for one in self.lag_us],
        }


def behind_of(history: History, windows: Windows) -> Behind:
    """Those of a history of sends and polls; nothing of another."""
    if "model" in history.meta:
        return Behind()
    clients = clients_of(history)
    unread = []
    for one in unread_over_time(clients):
        before = np.searchsorted(one.time, windows.edges[:-1], side="right") - 1
        most = np.where(before >= 0, one.records[before], 0)
        np.maximum.at(most, windows.of(one.time), one.records)
        unread.append(Series(one.key, most, int(one.records[-1])))
    lags: dict[str, Series] = {}
    for lag in realtime_lags(clients):
        if not len(lag.time):
            continue
        name = str(lag.process)
        most = lags[name].most if name in lags else np.zeros(len(windows), np.int64)
        np.maximum.at(most, windows.of(lag.time), lag.lag_us)
        left = max(int(lag.lag_us[-1]), lags[name].left if name in lags else 0)
        lags[name] = Series(name, most, left)
    return Behind(_worst_first(unread), _worst_first([*lags.values()]))


def _worst_first(series: list[Series]) -> list[Series]:
    return sorted(series, key=lambda one: (-int(one.most.max(initial=0)), one.name))


def behind_over_time(behind: Behind, windows: Windows, axis: TimeAxis) -> Figure:
    """A panel for records, and one for time; a line for each key, and for each consumer."""
    figure, axes = panels(axis, [1.7, 1.7])
    told = (
        (behind.unread, 1, "acknowledged, not yet polled", "records"),
        (behind.lag_us, SECOND, "lag of consumers", "s"),
    )
    middles = windows.edges[:-1] + windows.covered / 2
    x = [axis.at(time) for time in middles]
    for panel, (series, unit, title, label) in zip(axes, told, strict=True):
        handles = []
        for row, one in enumerate(series[:MOST_LINES]):
            look: Look = {
                "color": VARIANTS[row % len(VARIANTS)],
                "marker": MARKERS[row % len(MARKERS)],
                "markersize": 3.2,
                "linewidth": 1.3,
            }
            panel.plot(x, one.most / unit, zorder=3, **look)
            handles.append(Line2D([], [], label=short(one.name), **look))
        panel.set_ylim(bottom=0)
        panel.yaxis.set_major_formatter(PLAIN_NUMBERS)
        panel.set_ylabel(label)
        grid_of(panel)
        titled(panel, title)
        above(panel, handles)
    return figure
