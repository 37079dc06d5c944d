"""A space-time picture: one lane per broker, time to the right, the life of one record from its birth to its loss.

Time is not to scale: the numbered moments of the story stand at readable distances, in their order, each under its number, and
the axis tells their times. Between two moments time runs evenly.
"""

from __future__ import annotations

from bisect import bisect_right
from math import log10
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from tidemark.checkers.history.trace_events import KIND, LogStart, Recovered, Truncate
from tidemark.harness.report.lanes import Lane, Life, Term
from tidemark.harness.report.moments import CLIENTS, CONTROLLER, Moment
from tidemark.harness.report.story import Story
from tidemark.harness.report.style import (
    BACK,
    DECISIVE,
    EPOCHS,
    GONE,
    GRID,
    INK,
    LOST,
    MUTED,
    RIVAL,
    SMALL,
    looks,
    new_figure,
)

WIDTH = 10.7  # inches: A4 across
LANE, THIN_LANE = 1.3, 0.62  # inches
CHART_LOW, CHART_HIGH, ROLE_LOW, ROLE_HIGH = 0.08, 0.60, 0.66, 0.86  # of a broker's lane
OFFSETS_SHOWN = 4
MARGIN_US = 50_000
LETTER = 0.082  # inches of a letter of 9 pt


def draw_story(story: Story) -> Figure:
    """The picture of a story that has been told already."""
    with looks():
        scale = _Scale([moment.time for moment in story.moments] or [story.anomaly.time])
        rows = _Rows(story)
        figure = new_figure(WIDTH, rows.height + 1.15)
        axes = figure.add_subplot()
        for lane in story.lanes:
            _BrokerLane(axes, story, scale, lane, rows.bottom[lane.node]).draw()
        _thin_lanes(axes, story, scale, rows)
        _replication(axes, story, scale, rows)
        _numbers(axes, story, scale, rows)
        _axes(axes, scale, rows)
        figure.legend(
            handles=_legend(decided=any(moment.decided for moment in story.moments)),
            loc="outside lower center",
            ncols=5,
            frameon=False,
            handlelength=1.8,
        )
        return figure


class _Scale:
    """Time to place: every moment's time has a column, the columns' distance grows slowly with the time between them."""

    def __init__(self, times: list[int]) -> None:
        self.times = sorted(set(times))
        self.places = [1.0]
        for before, after in zip(self.times, self.times[1:], strict=False):
            self.places.append(self.places[-1] + 1 + 0.22 * log10(1 + (after - before) / 1_000))
        self.left, self.right = 0.0, self.places[-1] + 1.0
        self._letter = LETTER / (WIDTH - 1.1) * self.right

    def __call__(self, time: int) -> float:
        """The place of a time; `MARGIN_US` before the first moment and after the last one lie the picture's edges."""
        place = bisect_right(self.times, time) - 1
        if place < 0:
            return max(self.places[0] - (self.times[0] - time) / MARGIN_US, self.left)
        if place == len(self.times) - 1:
            return min(self.places[-1] + (time - self.times[-1]) / MARGIN_US, self.right)
        share = (time - self.times[place]) / (self.times[place + 1] - self.times[place])
        return self.places[place] + share * (self.places[place + 1] - self.places[place])

    def fitting(self, width: float, *choices: str) -> str:
        """The first of the texts that fits into `width`, or nothing."""
        return next((words for words in choices if len(words) * self._letter < width), "")


class _Rows:
    """Where the lanes lie, in inches from the bottom: clients above, then the controller, then the brokers."""

    def __init__(self, story: Story) -> None:
        self.bottom: dict[int, float] = {}
        self.tall: dict[int, float] = {}
        y = 0.0
        for lane in reversed(story.lanes):
            self.bottom[lane.node], self.tall[lane.node] = y, LANE
            y += LANE
        for node in (CONTROLLER, CLIENTS):
            self.bottom[node], self.tall[node] = y, THIN_LANE
            y += THIN_LANE
        self.height = y

    def badge(self, node: int) -> float:
        """Height of the moment numbers in a lane."""
        return self.bottom[node] + self.tall[node] - (0.09 if node > 0 else 0.15)


class _BrokerLane:
    """Draws one broker: its role on top, below it log end and high watermark around the record's offset."""

    def __init__(self, axes: Axes, story: Story, scale: _Scale, lane: Lane, bottom: float) -> None:
        self.axes, self.story, self.scale, self.lane, self.bottom = axes, story, scale, lane, bottom
        self.low = max((story.offset or 0) - 1, 0)

    def draw(self) -> None:
        """Everything in the lane but the moment numbers."""
        for span in self.lane.spans:
            self._span(span.start, span.end, span.kind, span.label)
        for term in self.lane.terms:
            self._term(term)
        if self.story.offset is not None:
            self._slot(self.story.offset)
            for life in self.lane.lives:
                self._life(life)
            if self.lane.leo:
                self._steps(self.lane.leo, "-", 1.6)
                self._steps(self.lane.hw, (0, (3, 2)), 1.4)

    def _height(self, share: float) -> float:
        return self.bottom + share * LANE

    def _offset_height(self, offset: int) -> float:
        shown = min(max(offset - self.low, -0.15), OFFSETS_SHOWN - 0.5)
        return self._height(CHART_LOW + (CHART_HIGH - CHART_LOW) * shown / (OFFSETS_SHOWN - 0.5))

    def _visible(self, start: int, end: int) -> tuple[float, float] | None:
        left, right = max(self.scale(start), self.scale.left), min(self.scale(end), self.scale.right)
        return (left, right) if right - left > 0.02 else None

    def _span(self, start: int, end: int, kind: str, label: str) -> None:
        visible = self._visible(start, end)
        if visible is None:
            return
        left, right = visible
        colour, hatch = {"stopped": ("#c9c9c9", "////"), "paused": ("#d6e4f0", "...."), "fault": ("#fff0c2", "")}[kind]
        top = ROLE_HIGH if kind != "fault" else CHART_HIGH + 0.03
        self.axes.add_patch(
            Rectangle((left, self._height(0.03)), right - left, (top - 0.03) * LANE, facecolor=colour, hatch=hatch,
                      edgecolor="#8d8d8d", linewidth=0, zorder=1 if kind == "fault" else 1.5)
        )  # fmt: skip
        words = {"stopped": f"down: {label}", "paused": "paused", "fault": label}[kind]
        words = self.scale.fitting(
            right - left, words, {"stopped": label, "fault": ""}.get(kind, kind), "down" if kind == "stopped" else ""
        )
        if kind == "stopped" and self.scale.left < self.scale(end) < self.scale.right:
            self.axes.plot([right], [self._height((ROLE_LOW + ROLE_HIGH) / 2)], marker="^", markersize=9, color=BACK,
                           markeredgecolor="white", zorder=6)  # fmt: skip
        height = 0.5 * (ROLE_LOW + ROLE_HIGH) if kind != "fault" else CHART_LOW + 0.02
        self.axes.text((left + right) / 2, self._height(height), words, ha="center", va="center", fontsize=SMALL,
                       bbox={"facecolor": colour, "edgecolor": "none", "pad": 1}, zorder=4)  # fmt: skip

    def _term(self, term: Term) -> None:
        visible = self._visible(term.start, term.end)
        if visible is None:
            return
        left, right = visible
        colour = EPOCHS[term.epoch % len(EPOCHS)]
        low, high = (ROLE_LOW, ROLE_HIGH) if term.leads else (ROLE_LOW + 0.03, ROLE_HIGH - 0.03)
        self.axes.add_patch(
            Rectangle((left, self._height(low)), right - left, (high - low) * LANE, facecolor=colour if term.leads else "white",
                      edgecolor=colour, linewidth=1.4, zorder=2)
        )  # fmt: skip
        if term.leads:
            words = self.scale.fitting(
                right - left, f"LEADER, epoch {term.epoch}", f"leads e{term.epoch}", f"e{term.epoch}"
            )
        else:
            whom = f"follows {term.leader}" if term.leader > 0 else "no leader"
            words = self.scale.fitting(right - left, f"{whom}, epoch {term.epoch}", f"{whom}", f"e{term.epoch}")
        self.axes.text((left + right) / 2, self._height((ROLE_LOW + ROLE_HIGH) / 2), words, ha="center", va="center",
                       fontsize=SMALL, color=_on(colour) if term.leads else INK,
                       fontweight="bold" if term.leads else "normal", zorder=3)  # fmt: skip

    def _slot(self, offset: int) -> None:
        """The ruler at the left: which height is which offset."""
        for number in range(self.low, self.low + 3):
            y = self._offset_height(number)
            self.axes.plot([self.scale.left, self.scale.right], [y, y], color=GRID, linewidth=0.6, zorder=0.5)
            middle = (y + self._offset_height(number + 1)) / 2
            weight, colour = ("bold", LOST) if number == offset else ("normal", MUTED)
            self.axes.text(self.scale.left - 0.06, middle, f"offset {number}", ha="right", va="center", fontsize=SMALL,
                           color=colour, fontweight=weight)  # fmt: skip

    def _life(self, life: Life) -> None:
        offset = self.story.offset
        visible = self._visible(life.start, life.end)
        if visible is None or offset is None:
            return
        left, right = visible
        ours = life.value == self.story.value
        colour = LOST if ours else RIVAL
        low, high = self._offset_height(offset), self._offset_height(offset + 1)
        self.axes.add_patch(
            Rectangle((left, low), right - left, high - low, facecolor=colour, alpha=0.35, linewidth=0, zorder=2)
        )
        middle = (low + high) / 2
        if self.scale.left < left:
            self.axes.plot([left], [middle], marker="o" if ours else "s", markersize=8, color=colour, zorder=5)
        words = self.scale.fitting(right - left - 0.25, f"{life.value}")
        self.axes.text(left + 0.13, middle, words, ha="left", va="center", fontsize=SMALL, color=INK, fontweight="bold",
                       zorder=5)  # fmt: skip
        if life.ended_by is not None and right < self.scale.right:
            self._cross(life, right, middle)

    def _cross(self, life: Life, x: float, y: float) -> None:
        """A cross where the record went, and how, on the side that has room."""
        event = life.ended_by
        if event is None:
            return
        self.axes.plot([x], [y], marker="X", markersize=13, color=GONE, markeredgecolor="white", zorder=6)
        starts = [self.scale(other.start) for other in self.lane.lives if other.start >= life.end]
        right = min([*starts, self.scale.right]) - x - 0.3
        left = x - max(self.scale(life.start), self.scale.left) - 0.3
        match event[KIND]:
            case "truncate":
                cut = Truncate(event)
                to, was = cut.to, cut.old_leo
                choices = [f"truncated to {to} (was {was})", f"cut to {to} (was {was})", f"cut to {to}"]
            case "log-start":
                start = LogStart(event).start
                choices = [f"log starts at {start} ({LogStart(event).how})", f"log starts at {start}", f"from {start}"]
            case "removed":
                choices = ["log deleted: no replica any more", "log deleted", "deleted"]
            case _:
                leo = Recovered(event).leo
                choices = [f"recovery left {leo} records", f"recovered to {leo}", f"left {leo}"]
        for words in choices:
            if self.scale.fitting(right, words) or self.scale.fitting(left, words):
                side, step = ("left", 0.16) if self.scale.fitting(right, words) else ("right", -0.16)
                self.axes.text(x + step, y, words, ha=side, va="center", fontsize=SMALL, color=GONE, fontweight="bold",
                               bbox={"facecolor": "white", "edgecolor": "none", "pad": 1, "alpha": 0.85}, zorder=6)  # fmt: skip
                return

    def _steps(self, steps: list[tuple[int, int]], style: str | tuple[int, tuple[int, int]], width: float) -> None:
        """A step line from edge to edge; dashes run a little lower, so that they are seen where both lines meet."""
        placed = [
            (self.scale(time), self._offset_height(value) - (0 if style == "-" else 0.03)) for time, value in steps
        ]
        before = [y for x, y in placed if x <= self.scale.left] or [placed[0][1]]  # a run may begin within the picture
        within = [(x, y) for x, y in placed if self.scale.left < x < self.scale.right]
        xs = [self.scale.left, *(x for x, _ in within), self.scale.right]
        ys = [before[-1], *(y for _, y in within)]
        self.axes.plot(xs, [*ys, ys[-1]], drawstyle="steps-post", linestyle=style, color=INK, linewidth=width, zorder=4)


def _thin_lanes(axes: Axes, story: Story, scale: _Scale, rows: _Rows) -> None:
    """What clients and the controller did, as marks with a word."""
    for node in (CLIENTS, CONTROLLER):
        moments = [moment for moment in story.moments if moment.node == node]
        places = [scale(moment.time) for moment in moments]
        for moment, x, until in zip(moments, places, [*places[1:], scale.right], strict=False):
            y = rows.bottom[node] + 0.16
            marker, colour, choices = _thin_mark(moment)
            axes.plot([x], [y], marker=marker, markersize=15 if marker == "*" else 8, color=colour, zorder=5)
            words = scale.fitting(until - x - 0.3, *choices)
            side, step = ("left", 0.15) if words else ("right", -0.15)
            axes.text(x + step, y, words or choices[-1], ha=side, va="center", fontsize=SMALL, zorder=6)


def _thin_mark(moment: Moment) -> tuple[str, str, tuple[str, ...]]:
    """Marker, colour, and the words for it from the longest to the shortest."""
    if moment.node == CLIENTS:
        return {
            "send": (">", LOST, ("sends",)),
            "ack": ("*", "#009E73", ("ack",)),
            "read": ("o", LOST, ("reads it", "reads")),
        }.get(moment.kind, ("d", LOST, ("no clear answer", "unclear")))
    if moment.kind in {"fault", "heal", "start", "stop"}:
        return "D", DECISIVE if moment.decided else MUTED, {"fault": ("a fault strikes", "fault"), "heal": ("it ends",),
                                                            "start": ("starts",), "stop": ("stops",)}[moment.kind]  # fmt: skip
    if moment.kind != "elect":
        return "D", INK, {"isr-change": ("ISR",), "reassign": ("replicas",)}.get(moment.kind, ("found",))
    words = moment.sentence.split()
    epoch = words[words.index("epoch") + 1]
    if "broker" not in words:
        return "D", INK, (f"no leader, e{epoch}", f"none, e{epoch}")
    leader = words[words.index("broker") + 1]
    return "D", INK, (f"leader {leader}, e{epoch}", f"{leader}, e{epoch}")


def _replication(axes: Axes, story: Story, scale: _Scale, rows: _Rows) -> None:
    """An arrow from the leader's lane to every copy of the record on a follower."""
    lanes = {lane.node: lane for lane in story.lanes}
    for lane in story.lanes:
        for life in lane.lives:
            term = next((term for term in reversed(lane.terms) if term.start <= life.start < term.end), None)
            if life.value != story.value or term is None or term.leads or term.leader not in lanes:
                continue
            source = next(
                (one for one in lanes[term.leader].lives if one.start <= life.start and one.value == life.value), None
            )
            if source is None or scale(life.start) - scale(source.start) < 0.02:  # nothing to see
                continue
            axes.annotate("", (scale(life.start), rows.bottom[lane.node] + 0.33 * LANE),
                          (max(scale(source.start), scale(life.start) - 1.3), rows.bottom[term.leader] + 0.33 * LANE),
                          arrowprops={"arrowstyle": "->", "color": MUTED, "linewidth": 1.2, "shrinkA": 7, "shrinkB": 7,
                                      "connectionstyle": "arc3,rad=0.08"}, zorder=4.5)  # fmt: skip


def _numbers(axes: Axes, story: Story, scale: _Scale, rows: _Rows) -> None:
    """The numbers of the moments, each at the top of the lane where it happened, and a line through all lanes: `steps.js` finds
    both by their ids.
    """
    first = {moment.time: moment.number for moment in reversed(story.moments)}  # of those at one time
    for time, x in zip(scale.times, scale.places, strict=True):
        axes.plot([x, x], [0, rows.height], color="#bdbdbd", linewidth=0.7, linestyle=(0, (1, 2)), zorder=0.6,
                  gid=f"at-{first.get(time, 0)}")  # fmt: skip
    for moment in story.moments:
        x, y = scale(moment.time), rows.badge(moment.node)
        if moment.decided:
            axes.plot(
                [x, x], [0, rows.height], color=DECISIVE, linewidth=5, alpha=0.55, solid_capstyle="butt", zorder=0.65
            )
        axes.plot([x], [y], marker="D" if moment.decided else "o", markersize=15, zorder=7,
                  color=DECISIVE if moment.decided else INK, markeredgecolor=INK, gid=f"moment-{moment.number}")  # fmt: skip
        axes.text(x, y, f"{moment.number}", ha="center", va="center_baseline", fontsize=SMALL, fontweight="bold", zorder=8,
                  color=INK if moment.decided else "white")  # fmt: skip
        if moment.kind == "hw":
            axes.text(
                x + 0.08, rows.bottom[moment.node] + 0.1, "committed", fontsize=SMALL, fontstyle="italic", zorder=6
            )


def _axes(axes: Axes, scale: _Scale, rows: _Rows) -> None:
    """Lane names, lane borders and the times of the moments."""
    axes.set_xlim(scale.left, scale.right)
    axes.set_ylim(0, rows.height)
    names = {CLIENTS: "clients", CONTROLLER: "controller"}
    for node, bottom in rows.bottom.items():
        axes.axhline(bottom, color=MUTED, linewidth=0.8, zorder=0.7)
        y = rows.badge(node) if node > 0 else bottom + rows.tall[node] / 2
        axes.text(-0.012, y - (0.1 if node > 0 else 0), names.get(node, f"broker {node}"), ha="right", va="center",
                  fontweight="bold", transform=axes.get_yaxis_transform(), fontsize=10)  # fmt: skip
    labels = next(labels for digits in (3, 4, 5, 6) if len(set(labels := _times(scale, digits))) == len(labels))
    crowded = len(labels) * len(labels[0]) > 90
    axes.set_xticks(scale.places, labels, rotation=35 if crowded else 0, ha="right" if crowded else "center",
                    rotation_mode="anchor")  # fmt: skip
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("time of the numbered moments, seconds (distances are not to scale)")


def _times(scale: _Scale, digits: int) -> list[str]:
    return [f"{time / 1_000_000:.{digits}f}" for time in scale.times]


def _legend(*, decided: bool) -> list[Any]:
    decisive = Line2D(
        [],
        [],
        marker="D",
        color=DECISIVE,
        markeredgecolor=INK,
        linestyle="none",
        markersize=10,
        label="a decisive fault strikes",
    )
    return [
        *([decisive] if decided else []),
        Line2D([], [], marker="o", color=LOST, linestyle="none", markersize=8, label="the record is written"),
        Line2D([], [], marker="X", color=GONE, linestyle="none", markersize=10, label="the record is destroyed"),
        Line2D([], [], marker="s", color=RIVAL, linestyle="none", markersize=7, label="another record at its offset"),
        Line2D([], [], color=INK, linewidth=1.6, label="log end (LEO)"),
        Line2D([], [], color=INK, linewidth=1.4, linestyle=(0, (3, 2)), label="high watermark (HW)"),
        Line2D(
            [], [], marker="*", color="#009E73", linestyle="none", markersize=13, label="client is told it is written"
        ),
        Patch(facecolor=EPOCHS[0], label="leads (colour: epoch)"),
        Patch(facecolor="white", edgecolor=EPOCHS[0], label="follows"),
        Patch(facecolor="#c9c9c9", hatch="////", edgecolor="#8d8d8d", label="down"),
        Line2D([], [], marker="^", color=BACK, linestyle="none", markersize=9, label="comes back"),
        Patch(facecolor="#fff0c2", edgecolor="#d9c98f", label="network fault"),
    ]


def _on(colour: str) -> str:
    """Black or white, whichever reads better on the colour."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "white" if 0.299 * red + 0.587 * green + 0.114 * blue < 140 else "black"
