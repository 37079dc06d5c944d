"""A survey for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tidemark.harness.survey.cells import Cell


def show_survey(found: Sequence[Cell], console: Console) -> None:
    """A row for each system, a column for each kind of trouble: runs with a loss, and records lost."""
    troubles = dict.fromkeys(cell.trouble for cell in found)
    of = {(cell.system, cell.trouble): cell for cell in found}
    table = Table("system", *troubles)
    for system in dict.fromkeys(cell.system for cell in found):
        table.add_row(system, *(_told(of.get((system, trouble))) for trouble in troubles))
    console.print(table)
    for why in dict.fromkeys(cell.refused for cell in found if cell.refused):
        console.print(f"cannot be run: {why}", highlight=False, markup=False, soft_wrap=True)
    console.print(sentence(found), highlight=False, markup=False, soft_wrap=True)


def _told(cell: Cell | None) -> Text:
    if cell is None:
        return Text("–", style="dim")
    if cell.refused:
        return Text("cannot be run", style="dim")
    if not cell.runs:
        return Text("unknown" if cell.unknown else "not yet", style="dim")
    style = "bold red" if cell.broken else "yellow" if cell.lossy else ""
    return Text(f"{cell.lossy} of {cell.runs}\n{cell.lost} of {cell.acked}", style=style)


def sentence(found: Sequence[Cell]) -> str:
    """The totals in words."""
    runs, lossy, broken = (sum(getattr(cell, name) for cell in found) for name in ("runs", "lossy", "broken"))
    unknown, missing = sum(cell.unknown for cell in found), sum(cell.missing for cell in found)
    words = f"{runs} runs: acknowledged records were lost in {lossy}, in {broken} of them against the system's promise"
    return f"{words}; {unknown} unknown, {missing} still to come"
