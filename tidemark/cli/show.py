"""How a verdict is printed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.markup import escape

from tidemark.checkers.acknowledged import of_acknowledged
from tidemark.checkers.history.leaders_seen import in_words, leaders_seen
from tidemark.checkers.verdict.alike import alike
from tidemark.checkers.verdict.verdict import CLIENTS, GRAVITY, INFORMATIONAL, NEAR_MISS, PERMITTED, VIOLATION, seconds
from tidemark.checkers.verdict.visible import brief, visible

if TYPE_CHECKING:
    from rich.console import Console

    from tidemark.checkers import History, Verdict

_COLOURS = {"valid": "green", "invalid": "red", "unknown": "yellow"}
MARKS = {
    VIOLATION: "[red]✗ violation[/]",
    NEAR_MISS: "[yellow]~ near miss[/]",
    PERMITTED: "[dim]· permitted[/]",
    INFORMATIONAL: "[dim]· informational[/]",
}
"""How an anomaly is marked."""
_MOST = 12
_LONGEST = 2_000
"""Of a sentence so many characters are printed: keys and values may have any number. JSON has all of it."""


def print_verdict(verdict: Verdict, history: History, console: Console) -> None:
    """The verdict, what happened in numbers, and each anomaly in a sentence: violations first."""
    colour = _COLOURS[verdict.valid]
    alone = ", judged by what the clients saw alone" if verdict.judged_from == CLIENTS else ""
    broken = verdict.broken()
    losses = f": what was lost breaks {', '.join(broken)}" if broken else ""
    misses = Counter(anomaly.name for anomaly in verdict.anomalies if anomaly.verdict == NEAR_MISS)
    near = f"; near misses: {', '.join(f'{name} {count}' for name, count in sorted(misses.items()))}" if misses else ""
    console.print(
        f"[bold {colour}]{verdict.valid}[/] under the promise [bold]{verdict.contract}[/]{alone}{losses}{near}"
    )
    stats = verdict.stats
    console.print(f"  [bold]{escape(of_acknowledged(stats))}[/]", soft_wrap=True)
    if verdict.unknown_because:
        console.print(f"  unknown because {escape(brief(visible(verdict.unknown_because), _LONGEST))}")
    if history.meta.get("untold"):
        if seen := in_words(leaders_seen(history.trace)):
            console.print(f"  {seen}", soft_wrap=True, highlight=False)
    elif "operations" not in stats and verdict.judged_from != CLIENTS:
        console.print(
            f"  {stats['elections']} elections, {stats['truncations']} truncations "
            f"({stats['records_truncated']} records), {stats['epoch_round_trips']} epoch requests"
        )
    lag = stats.get("worst_realtime_lag")
    if lag is not None and lag["lag_us"]:
        who, key = (escape(brief(visible(str(lag[name])), _LONGEST)) for name in ("process", "key"))
        late, when = seconds(lag["lag_us"]), seconds(lag["time"])
        console.print(f"  furthest behind: {who}, {late} in {key} when it polled at {when}")
    ordered = sorted(verdict.anomalies, key=lambda a: (GRAVITY.index(a.verdict), a.time))
    told = alike(ordered)
    for one in told[:_MOST]:
        anomaly = one.first
        clause = f" [dim]({escape(anomaly.clause)})[/]" if anomaly.clause else ""
        more = f" [dim](and {one.count - 1} more like it, until {seconds(one.last)})[/]" if one.count > 1 else ""
        console.print(
            f"{MARKS[anomaly.verdict]} [bold]{anomaly.name}[/]{clause}: {escape(brief(anomaly.message, _LONGEST))}{more}",
            soft_wrap=True,
        )
    if len(told) > _MOST:
        left = sum(one.count for one in told[_MOST:])
        console.print(f"  … and {left} more (verdict.json, or --json)")
