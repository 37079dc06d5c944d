"""The panels of the drawing of a whole run, one below the other: numbers only, in the coordinates of a drawing `WIDTH` wide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any, Final

import numpy as np

from tidemark.harness.report.fault_spans import FaultSpan
from tidemark.harness.report.lanes import Lane
from tidemark.harness.report.operations import OUTCOMES, Operations
from tidemark.harness.report.over_time import OUTCOME_WORDS
from tidemark.harness.report.thinning import thinned
from tidemark.harness.report.windows import Windows, rates
from tidemark.harness.report.words import SECOND, milliseconds, seconds

WIDTH: Final = 880.0
MOST_FAULT_ROWS: Final = 8
MOST_POINTS: Final = 1500
MOST_STEPS: Final = 600
ROW: Final = 16
CHART: Final = 96
ABOVE: Final = 18
"""Heights, in units of the drawing: a row of bars, a chart, and the title above either."""
LETTER: Final = 5.6
"""How wide a letter is."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A stretch of time in a row; `words` for who points at it, `label` to stand in it, if it fits."""

    x: float
    width: float
    y: float
    height: float
    kind: str
    words: str
    label: str = ""

    @property
    def fits(self) -> bool:
        """Whether there is room for the label."""
        return bool(self.label) and len(self.label) * LETTER < self.width


@dataclass(frozen=True, slots=True)
class Line:
    """A path of a panel; `kind` is its looks."""

    path: str
    kind: str
    words: str


@dataclass(frozen=True, slots=True)
class Tick:
    """A height and what it is called."""

    y: float
    words: str


@dataclass(frozen=True, slots=True)
class Panel:
    """A part of the drawing under its title; `top` is where it begins, `ticks` stand at the left."""

    title: str
    top: float
    height: float
    bars: tuple[Bar, ...] = ()
    lines: tuple[Line, ...] = ()
    ticks: tuple[Tick, ...] = ()
    key: tuple[tuple[str, str], ...] = ()  # looks and words


class Scale:
    """Where times lie in the drawing."""

    def __init__(self, begin: int, end: int) -> None:
        self.begin, self.end = begin, end

    def __call__(self, time: float) -> float:
        """Where a time lies, with two digits."""
        share = (min(max(time, self.begin), self.end) - self.begin) / (self.end - self.begin)
        return round(share * WIDTH, 2)

    def ticks(self) -> Iterator[tuple[float, str]]:
        """Round times, about ten."""
        step = _round_up((self.end - self.begin) / 10)
        first = ceil(self.begin / step) * step
        while first <= self.end:
            yield self(first), f"{first / SECOND:.10g} s"
            first += step


def _round_up(value: float) -> float:
    """The next 1, 2 or 5 and zeros."""
    power: float = 10.0 ** floor(log10(value))
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= value or digit == 10)


class Panels:
    """Stacks them, one below the other."""

    def __init__(self, scale: Scale) -> None:
        self.scale = scale
        self.top = 0.0
        self.found: list[Panel] = []

    def _add(self, title: str, height: float, **parts: Any) -> None:  # noqa: ANN401 - the fields of a panel
        self.found.append(Panel(title, self.top, height, **parts))
        self.top = round(self.top + ABOVE + height + 10, 2)

    def _bar(self, start: int, end: int, row: int, kind: str, words: str, label: str = "") -> Bar:
        x = self.scale(start)
        width = round(max(self.scale(end) - x, 1.0), 2)
        return Bar(
            x, width, row * ROW + 1.0, ROW - 3.0, kind, f"{words}, {seconds(start, 3)} to {seconds(end, 3)}", label
        )

    def faults(self, spans: Sequence[FaultSpan]) -> None:
        """A row for each kind."""
        kinds = list(dict.fromkeys(span.kind for span in spans))
        if not kinds:
            return
        rows = {kind: min(row, MOST_FAULT_ROWS - 1) for row, kind in enumerate(kinds)}
        count = max(rows.values()) + 1
        names = kinds[:count]
        if len(kinds) > count:
            names[-1] = f"{len(kinds) - count + 1} more kinds"
        bars = tuple(
            self._bar(span.start, max(span.end, span.start), rows[span.kind], "fault", _named(span)) for span in spans
        )
        self._add(
            "faults",
            ROW * count,
            bars=bars,
            ticks=tuple(Tick(row * ROW + ROW / 2, name) for row, name in enumerate(names)),
        )

    def leaders(self, partition: str, lanes: Sequence[Lane]) -> None:
        """A row for each broker: whom it takes for the leader, in which epoch, and when it was down or paused."""
        bars: list[Bar] = []
        for row, lane in enumerate(lanes):
            for term in lane.terms:
                whom = f"leads in epoch {term.epoch}" if term.leads else _follows(term.leader, term.epoch)
                label = (
                    f"leads, epoch {term.epoch}" if term.leads else f"follows {term.leader}" if term.leader > 0 else ""
                )
                kind = f"leads e{term.epoch % 5}" if term.leads else f"follows e{term.epoch % 5}"
                bars.append(self._bar(term.start, term.end, row, kind, f"broker {lane.node} {whom}", label))
            bars += [
                self._bar(span.start, span.end, row, span.kind, f"broker {lane.node} is {what}", what.split()[0])
                for span in lane.spans
                if span.kind in {"stopped", "paused"}
                for what in ("paused" if span.kind == "paused" else f"down ({span.label})",)
            ]
        ticks = tuple(Tick(row * ROW + ROW / 2, f"broker {lane.node}") for row, lane in enumerate(lanes))
        key = (
            ("leads e0", "leads (colour: epoch)"),
            ("follows e0", "follows"),
            ("stopped", "down"),
            ("paused", "paused"),
        )
        self._add(
            f"{partition}: leaders, as each broker sees it", ROW * len(lanes), bars=tuple(bars), ticks=ticks, key=key
        )

    def isr(self, partition: str, steps: Sequence[tuple[int, tuple[int, ...]]], nodes: Sequence[int]) -> None:
        """A row for each broker, filled while it is in sync."""
        if not steps:
            return
        bars = []
        for row, node in enumerate(nodes):
            since: int | None = None
            for time, members in [*steps, (self.scale.end, ())]:
                if node in members and since is None:
                    since = time
                elif node not in members and since is not None:
                    bars.append(self._bar(since, time, row, "isr", f"broker {node} is in sync"))
                    since = None
        ticks = tuple(Tick(row * ROW + ROW / 2, f"broker {node}") for row, node in enumerate(nodes))
        self._add(f"{partition}: in-sync replicas, as committed", ROW * len(nodes), bars=tuple(bars), ticks=ticks)

    def log_ends(self, partition: str, lanes: Sequence[Lane]) -> None:
        """Log end (solid) and high watermark (dashed) of each replica."""
        highest = max((value for lane in lanes for _, value in lane.leo), default=0)
        if not highest:
            return
        lines = []
        for place, lane in enumerate(lanes):
            for steps, kind, what in ((lane.leo, "leo", "log end"), (lane.hw, "hw", "high watermark")):
                words = f"{what} of broker {lane.node}"
                lines.append(Line(self._steps(steps, highest), f"{kind} r{place % 5}", words))
        key = (
            *((f"leo r{place % 5}", f"broker {lane.node}") for place, lane in enumerate(lanes)),
            ("leo", "log end (LEO)"),
            ("hw", "high watermark (HW)"),
        )
        self._add(
            f"{partition}: log ends and high watermarks", CHART, lines=tuple(lines), ticks=_heights(highest), key=key
        )  # fmt: skip

    def _steps(self, steps: Sequence[tuple[int, int]], highest: float) -> str:
        """Horizontal to each change, then vertical; of too many changes the last in each small time stays."""
        grain = 0.0 if len(steps) <= MOST_STEPS else WIDTH / MOST_STEPS
        kept: list[tuple[float, float]] = []
        fell = False
        for time, value in steps:
            x, y = self.scale(time), round(CHART * (1 - value / highest), 2)
            falls = bool(kept) and y > kept[-1][1]
            if kept and x - kept[-1][0] < grain and not falls and not fell:
                kept[-1] = (kept[-1][0], y)
            elif not kept or y != kept[-1][1]:
                kept.append((x, y))
            fell = falls  # a fall is never thinned away
        path = f"M{kept[0][0]:g} {kept[0][1]:g}" + "".join(f"H{x:g}V{y:g}" for x, y in kept[1:])
        return f"{path}H{WIDTH:g}"

    def latency(self, operations: Operations) -> None:
        """A point for each operation that ended, where it began; logarithmic."""
        timed = np.flatnonzero(operations.timed)
        if not len(timed):
            return
        windows = Windows.over(self.scale.begin, self.scale.end)
        group = operations.outcome[timed].astype(np.int64) * len(windows) + windows.of(operations.began[timed])
        drawn = timed[thinned(group, operations.latency[timed], MOST_POINTS)]
        took = np.maximum(operations.latency[drawn], 1).astype(float)
        low, high = 10 ** floor(log10(took.min())), 10 ** ceil(log10(max(took.max(), took.min() + 1)))
        ys = CHART * (1 - (np.log10(took) - log10(low)) / max(log10(high) - log10(low), 1))
        lines = []
        for outcome, name in enumerate(OUTCOMES):
            mine = np.flatnonzero(operations.outcome[drawn] == outcome)
            places = zip(
                (self.scale(time) for time in operations.began[drawn[mine]].tolist()),
                ys[mine].round(1).tolist(),
                strict=True,
            )
            path = "".join(f"M{x:g} {y:g}h0" for x, y in places)
            if path:
                lines.append(Line(path, f"points {name}", f"operations that ended {OUTCOME_WORDS[outcome]}"))
        ticks = []
        value = low
        while value <= high:
            ticks.append(
                Tick(
                    round(CHART * (1 - (log10(value) - log10(low)) / max(log10(high) - log10(low), 1)), 1),
                    milliseconds(value),
                )
            )
            value *= 10
        key = tuple((line.kind, OUTCOME_WORDS[OUTCOMES.index(line.kind.split()[1])]) for line in lines)
        self._add("latency of clients' operations", CHART, lines=tuple(lines), ticks=tuple(ticks), key=key)

    def throughput(self, operations: Operations) -> None:
        """Completions a second: of each of the two most frequent kinds those that ended ok, and of all the others."""
        windows = Windows.over(self.scale.begin, self.scale.end, int(np.bincount(operations.f).max()))
        by_kind = sorted(operations.kinds, key=lambda f: -int(np.count_nonzero(operations.f == f)))[:2]
        found = [
            (f"rate k{place}", f"{operations.fs[f]} ok", rates(operations, f, windows)[0])
            for place, f in enumerate(by_kind)
        ]
        not_ok = sum(rates(operations, f, windows)[1:].sum(axis=0) for f in operations.kinds)
        found.append(("rate bad", "not ok, of all", np.asarray(not_ok)))
        highest = max(float(values.max()) for _, _, values in found)
        if not highest:
            return
        edges = [self.scale(time) for time in windows.edges.tolist()]
        lines = []
        for kind, words, values in found:
            heights = (CHART * (1 - values / highest)).round(1).tolist()
            path = f"M{edges[0]:g} {heights[0]:g}" + "".join(
                f"H{x:g}V{y:g}" for x, y in zip(edges[1:], heights[1:], strict=False)
            )
            lines.append(Line(f"{path}H{edges[-1]:g}", kind, words))
        key = tuple((line.kind, line.words) for line in lines)
        title = f"operations that ended, a second (in each {windows.length / SECOND:g} s)"
        self._add(title, CHART, lines=tuple(lines), ticks=_heights(highest), key=key)


def _named(span: FaultSpan) -> str:
    return span.kind if span.healed else f"{span.kind} (no end was noted)"


def _follows(leader: int, epoch: int) -> str:
    return f"follows broker {leader} in epoch {epoch}" if leader > 0 else f"has no leader in epoch {epoch}"


def _heights(highest: float) -> tuple[Tick, ...]:
    return tuple(Tick(round(CHART * (1 - share), 1), f"{share * highest:,.4g}") for share in (0, 0.5, 1))
