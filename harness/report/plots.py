"""The part of a page about how operations went over time: figures, what they show in numbers, and words where there is nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from markupsafe import Markup

from tidemark.checkers.history.history import History
from tidemark.harness.report.availability import MOST_KEYS, availability_over_time, recovery_over_time, worst_off
from tidemark.harness.report.behind import MOST_LINES, Behind, behind_of, behind_over_time
from tidemark.harness.report.fault_spans import Episode, episodes, fault_spans
from tidemark.harness.report.latency import latency_over_time, latency_points, points_to_draw
from tidemark.harness.report.operations import NONE, OUTCOMES, Operations
from tidemark.harness.report.over_time import TimeAxis
from tidemark.harness.report.rates import rates_over_time
from tidemark.harness.report.recovery import BEFORE_WINDOWS, LEAST, SHARE_OF_BEFORE, Recovery, recoveries
from tidemark.harness.report.style import looks, save
from tidemark.harness.report.windows import QUANTILES, Availability, Windows, availabilities
from tidemark.harness.report.words import SECOND, listed

MOST_KINDS: Final = 6
"""So many kinds of operations have panels; those of which there are most."""

MOST_RECOVERIES: Final = 40


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure and what is said under it."""

    title: str
    svg: Markup
    caption: str


@dataclass(frozen=True, slots=True)
class KindSummary:
    """One kind of operation over the whole history; latencies in µs, a value for each of `QUANTILES`."""

    name: str
    ok: int
    info: int
    fail: int
    never_ended: int
    quantiles: tuple[int, ...]  # empty if no latency is known

    @property
    def begun(self) -> int:
        """All of them."""
        return self.ok + self.info + self.fail

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "f": self.name,
            "ok": self.ok,
            "info": self.info,
            "fail": self.fail,
            "never_ended": self.never_ended,
            "latency_us": dict(zip(map(str, QUANTILES), self.quantiles, strict=False)),
        }


@dataclass(frozen=True, slots=True)
class AvailabilitySummary:
    """A kind of operation or a key over the whole history. `longest_us` is of windows without a break."""

    name: str
    is_key: bool
    share: float | None
    unavailable_us: int
    longest_us: int

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "of": "key" if self.is_key else "f",
            "name": self.name,
            "share": self.share,
            "unavailable_us": self.unavailable_us,
            "longest_unavailable_us": self.longest_us,
        }


@dataclass(frozen=True, slots=True)
class Plots:
    """All of it.

    Attributes:
        absent: why there are no figures, as a sentence; empty if there are.
        window: µs.
    """

    absent: str = ""
    pictures: list[Picture] = field(default_factory=list)
    kinds: list[KindSummary] = field(default_factory=list)
    shares: list[AvailabilitySummary] = field(default_factory=list)
    episodes: list[Episode] = field(default_factory=list)
    recoveries: list[Recovery] = field(default_factory=list)
    recoveries_left_out: int = 0
    behind: Behind = field(default_factory=Behind)
    window: int = 0

    @property
    def before(self) -> int:
        """Over how long a rate before faults is counted, µs."""
        return self.window * BEFORE_WINDOWS

    @property
    def least(self) -> int:
        """Of how many successes a rate is taken."""
        return LEAST

    def to_json(self) -> dict[str, Any]:
        """The numbers as plain values; times in µs."""
        return {
            "absent": self.absent or None,
            "window_us": self.window,
            "operations": [kind.to_json() for kind in self.kinds],
            "availability": [share.to_json() for share in self.shares],
            "recovery": [_recovery_json(recovery) for recovery in self.recoveries],
            **self.behind.to_json(),
        }


def plots_of(history: History, operations: Operations, folder: Path, name: str, *, for_paper: bool = False) -> Plots:
    """Draw what can be drawn, saved in `folder` as ``NAME-latency.svg`` and the like.

    Args:
        history: what happened.
        operations: those of the history.
        folder: for the figures.
        name: what their names begin with.
        for_paper: save them as PNG and PDF, too.
    """
    if not len(operations):
        return Plots("Nothing can be drawn: the history has no operations of clients.")
    kinds = _kinds(operations)
    if not operations.has_times:
        return Plots(
            "The history has no times, only an order: there is more than one entry for each microsecond between the first and the "
            "last. So there is no latency, no rate and no availability over time; the timeline shows the order.",
            kinds=[KindSummary(k.name, k.ok, k.info, k.fail, k.never_ended, ()) for k in kinds],
        )
    begin, end = operations.span
    end = max(end, *(entry[0] for entry in history.nemesis), end)
    axis = TimeAxis(begin, end, fault_spans(history, end))
    windows = Windows.over(begin, end, int(np.bincount(operations.f).max()))
    by_kind, by_key = availabilities(operations, windows)
    behind = behind_of(history, windows)
    all_recoveries = recoveries(operations, episodes(axis.faults), windows.length)

    def saved(figure: Any, file: str, title: str) -> Markup:  # noqa: ANN401 - matplotlib's, imported for types only
        return Markup(save(figure, folder, f"{name}-{file}", title, for_paper=for_paper))  # noqa: S704  our own SVG

    with looks():
        pictures = _pictures(operations, windows, axis, (by_kind, by_key), behind, all_recoveries, saved)
    return Plots(
        pictures=pictures,
        kinds=kinds,
        shares=[*(_share(one, windows, is_key=False) for one in by_kind), *(_share(one, windows, is_key=True) for one in by_key)],
        episodes=episodes(axis.faults),
        recoveries=all_recoveries[:MOST_RECOVERIES],
        recoveries_left_out=max(len(all_recoveries) - MOST_RECOVERIES, 0),
        behind=behind,
        window=windows.length,
    )  # fmt: skip


def _kinds(operations: Operations) -> list[KindSummary]:
    found = []
    for f, name in ((f, operations.fs[f]) for f in operations.kinds):
        mine = operations.f == f
        ok, info, fail = np.bincount(operations.outcome[mine], minlength=len(OUTCOMES)).tolist()
        latency = operations.latency[mine & operations.timed]
        quantiles = np.quantile(latency, QUANTILES, method="inverted_cdf").tolist() if len(latency) else []
        never = int(np.count_nonzero(operations.completion[mine] == NONE))
        found.append(KindSummary(name, ok, info, fail, never, tuple(map(int, quantiles))))
    return found


def _share(one: Availability, windows: Windows, *, is_key: bool) -> AvailabilitySummary:
    lengths = np.where(one.unavailable, windows.covered, 0)
    longest = run = 0
    for length in lengths.tolist():
        run = run + length if length else 0
        longest = max(longest, run)
    return AvailabilitySummary(one.name, is_key, one.total, int(lengths.sum()), longest)


def _pictures(
    operations: Operations,
    windows: Windows,
    axis: TimeAxis,
    availability: tuple[list[Availability], list[Availability]],
    behind: Behind,
    recovered: list[Recovery],
    saved: Callable[[Any, str, str], Markup],
) -> list[Picture]:
    counts = np.bincount(operations.f, minlength=len(operations.fs))
    most = sorted(operations.kinds, key=lambda f: (-counts[f], f))[:MOST_KINDS]
    fs = [f for f in operations.kinds if f in most]
    others = [operations.fs[f] for f in operations.kinds if f not in most]
    left_out = f" Not drawn, for there are fewer of them: {listed(others)}." if others else ""
    shaded = _shaded(axis)
    length = _seconds(windows.length)
    pictures = []

    def add(title: str, figure: Any, file: str, caption: str) -> None:  # noqa: ANN401 - matplotlib's, imported for types only
        pictures.append(Picture(title, saved(figure, file, title), caption))

    timed = [f for f in fs if (operations.timed & (operations.f == f)).any()]
    if timed:
        drawn = points_to_draw(operations, timed, windows)
        total = int(np.count_nonzero(operations.timed & np.isin(operations.f, timed)))
        add(
            "Latency of each operation",
            latency_points(operations, timed, drawn, axis),
            "latency",
            f"A point for each operation that ended, where it began. {_drawn(len(drawn), total, length)}{shaded}{left_out}",
        )
        add(
            "Latency quantiles",
            latency_over_time(operations, timed, windows, axis),
            "latency-quantiles",
            f"Of all operations that began in each {length} and ended, however they ended.{shaded}{left_out}",
        )
    if (operations.completion != NONE).any():
        never = int(np.count_nonzero(operations.completion == NONE))
        unended = f" {never:,} that never ended {'is' if never == 1 else 'are'} not in it." if never else ""
        add(
            "Rate",
            rates_over_time(operations, fs, windows, axis),
            "rate",
            f"Operations that ended, a second, counted in each {length}.{unended}{shaded}{left_out}",
        )
    kinds, keys = availability
    worst = worst_off(keys)
    hidden = f" {len(keys) - len(worst)} keys that were better off are left out." if len(keys) > MOST_KEYS else ""
    named = " A key's row has the operations that name it when they begin; polls name none." if keys else ""
    add(
        "Availability",
        availability_over_time(kinds, worst, windows, axis),
        "availability",
        f"Of the operations that began in each {length}, the part that ended ok. Unavailable: nothing ended "
        "ok in it, though an operation waited all the while, or some began and none of them succeeded. "
        f"Where nothing is drawn, nothing was asked.{named}{hidden}{shaded}",
    )
    if behind:
        more = max(len(behind.unread), len(behind.lag_us)) > MOST_LINES
        rest = f" Drawn are the {MOST_LINES} keys and consumers that were furthest behind." if more else ""
        add(
            "How far behind consumers were",
            behind_over_time(behind, windows, axis),
            "behind",
            f"The most in each {length}. Above: acknowledged records of each key that no ok poll had returned yet (Jepsen's "
            "unseen). Below: for how long a record beyond a consumer's position had been known to be there when it polled "
            f"(realtime-lag); of several keys the most.{rest}{shaded}",
        )
    if recovered and any(_has_points(recovery) for recovery in recovered):
        add(
            "Recovery",
            recovery_over_time(recovered, axis),
            "recovery",
            f"For each time of faults, where it ends: how long until an operation of each kind ended ok, and until the "
            f"rate of those was back to {SHARE_OF_BEFORE:.0%} of before. What never came is in the table only.".replace("%", " %")
            + shaded,
        )  # fmt: skip
    return pictures


def _has_points(recovery: Recovery) -> bool:
    return any(time is not None for times in (recovery.first_success, recovery.rate_back) for time in times.values())


def _drawn(drawn: int, total: int, length: str) -> str:
    if drawn == total:
        return "All are drawn."
    return (
        f"{drawn:,} of {total:,} are drawn: of each kind, outcome and {length} the fastest, the slowest, and some at equal ranks "
        "between them."
    )


def _shaded(axis: TimeAxis) -> str:
    if not axis.faults:
        return " The history tells of no faults."
    return " Grey: some fault lasts; dotted: one struck and was over; the strip on top names them."


def _seconds(time: int) -> str:
    return f"{time / SECOND:g} s"


def _recovery_json(recovery: Recovery) -> Mapping[str, Any]:
    return {
        "faults": list(recovery.episode.kinds),
        "start_us": recovery.episode.start,
        "end_us": recovery.episode.end,
        "first_success_us": recovery.first_success,
        "first_success_by_key_us": recovery.by_key,
        "rate_before": recovery.before,
        "rate_back_us": recovery.rate_back,
    }
