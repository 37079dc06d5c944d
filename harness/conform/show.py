"""Comparisons for a terminal: a table for each pairing, what differs below it, and all of them in one table at the end."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tidemark.harness.conform.differing_endings import Difference, SideBySide
from tidemark.harness.conform.known_difference import KnownDifference
from tidemark.harness.conform.layout import EQUAL, presets_of, sides

STANDINGS = {
    "equal": ("equal", "green"),
    "known": ("known differences", "yellow"),
    "unexplained": ("UNEXPLAINED", "bold red"),
    "failed": ("not carried out", "red"),
    "alone": ("cannot be played", "dim"),
    "stopped": ("cannot be played", "dim"),
}
"""Words and style of how a pairing came out."""


def show_comparison(comparison: SideBySide, console: Console) -> None:
    """One pairing side by side."""
    pairing = comparison.pairing
    words, style = STANDINGS[comparison.standing]
    console.print()
    console.print(Text(f"{pairing.scenario.name} under {pairing.preset}: ", style="bold") + Text(words, style=style))
    model = f", played by the model {pairing.model}" if pairing.model != pairing.preset else ""
    console.print(Text(f"{pairing.scenario.title}{model}", style="dim"))
    if comparison.stopped:
        console.print(Text(f"  The model does not come to the script's end: {comparison.stopped}", style="yellow"))
        return
    shown = sides(comparison)
    if shown.rows:
        table = Table("", *shown.titles, box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
        for row in shown.rows:
            table.add_row(row.name, *(_cell(text, place) for place, text in enumerate(row.cells)))
        console.print(table)
    for one in comparison.played:
        for telling in comparison.endings[one.world]:
            if telling.spent:
                spent = f"  {one.world} has leader epochs besides: {', '.join(telling.spent)}"
                console.print(Text(spent, style="dim"))
                break
        if one.cannot:
            console.print(Text(f"  Cannot be played in {one.world}: {one.cannot}", style="yellow"))
        for failure in one.failures:
            console.print(Text(f"  Not carried out in {one.world}: {failure}", style="red"))
    for difference in comparison.differences:
        console.print(_told(comparison, difference))


def _cell(text: str, place: int) -> Text:
    return Text(text, style="dim" if text == EQUAL else "bold" if place else "")


def _told(comparison: SideBySide, difference: Difference) -> Text:
    tries = f" in {difference.tries} of {difference.times} tries" if difference.times > 1 else ""
    text = Text("  ")
    text.append(f"{difference.aspect}{tries}: ", style="bold")
    text.append(f"{comparison.reference} {difference.model}, {difference.world} {difference.seen}")
    if difference.finding is None:
        text.append("\n    unexplained", style="bold red")
    else:
        text.append(f"\n    known: {difference.finding.words}", style="yellow")
    return text


def show_summary(comparisons: Sequence[SideBySide], outdated: Sequence[KnownDifference], console: Console) -> None:
    """How everything came out, one row a script."""
    presets = presets_of(comparisons)
    table = Table("scenario", *presets)
    by_scenario: dict[str, dict[str, Text]] = {}
    for comparison in comparisons:
        words, style = STANDINGS[comparison.standing]
        without = f"\nwithout {', '.join(comparison.left_out)}" if comparison.left_out else ""
        told = Text(words, style=style).append(without, style="dim")
        by_scenario.setdefault(comparison.pairing.scenario.name, {})[comparison.pairing.preset] = told
    for name, row in by_scenario.items():
        table.add_row(name, *(row.get(preset, Text("")) for preset in presets))
    console.print()
    if len(comparisons) > 1:
        console.print(table)
    differences = [one for comparison in comparisons for one in comparison.differences]
    unexplained = sum(one.finding is None for one in differences)
    console.print(
        f"{len(comparisons)} held side by side; differences: {len(differences) - unexplained} known, {unexplained} unexplained",
        style="bold red" if unexplained else "",
        highlight=False,
    )
    for finding in outdated:
        about = f"{finding.aspect} of {finding.scenario} on {finding.system}"
        console.print(
            f"stale: nothing shows this finding any more: {about}: {finding.why}",
            style="yellow",
            markup=False,
            soft_wrap=True,
        )
