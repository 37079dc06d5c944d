"""The look of a bar that shows how far long work over many pieces has come."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


def bar_of(console: Console) -> Progress:
    """Its tasks have the field `found`: a few words about what was found so far."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[found]}"),
        TextColumn("left"),
        TimeRemainingColumn(compact=True),
        console=console,
    )
