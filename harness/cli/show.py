"""How a verdict is printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from checkers.verdict import CLIENTS, INFORMATIONAL, PERMITTED, VIOLATION

if TYPE_CHECKING:
    from rich.console import Console

    from checkers import Verdict

_MARKS = {
    VIOLATION: "[red]✗ violation[/]",
    PERMITTED: "[dim]· permitted[/]",
    INFORMATIONAL: "[dim]· informational[/]",
}
_COLOURS = {"valid": "green", "invalid": "red", "unknown": "yellow"}
_MOST = 12


def print_verdict(verdict: Verdict, console: Console) -> None:
    """The verdict, what happened in numbers, and each anomaly in a sentence: violations first."""
    colour = _COLOURS[verdict.valid]
    alone = ", judged by what the clients saw alone" if verdict.judged_from == CLIENTS else ""
    console.print(f"[bold {colour}]{verdict.valid}[/] under the promise [bold]{verdict.contract}[/]{alone}")
    if verdict.unknown_because:
        console.print(f"  unknown because {escape(verdict.unknown_because)}")
    stats = verdict.stats
    console.print(
        f"  {stats['acked']} records acknowledged, {stats['elections']} elections, {stats['truncations']} truncations "
        f"({stats['records_truncated']} records), {stats['epoch_round_trips']} epoch requests"
    )
    ordered = sorted(verdict.anomalies, key=lambda a: (list(_MARKS).index(a.verdict), a.time))
    for anomaly in ordered[:_MOST]:
        mark = _MARKS[anomaly.verdict]
        clause = f" [dim]({escape(anomaly.clause)})[/]" if anomaly.clause else ""
        console.print(f"{mark} [bold]{anomaly.name}[/]{clause}: {escape(anomaly.message)}", soft_wrap=True)
    if len(ordered) > _MOST:
        console.print(f"  … and {len(ordered) - _MOST} more (verdict.json, or --json)")
