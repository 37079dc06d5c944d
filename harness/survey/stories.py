"""One run of every cell as it happened, on one page: what struck, what was lost, and how to play it again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tidemark.harness.runs.folder import PLAN, REPORT
from tidemark.harness.survey.cells import Cell, Run
from tidemark.harness.survey.entrants import Entrant
from tidemark.harness.survey.page import heading_of

LOSSES = ("lost-", "set-full")
"""What is told first."""
_NODE = re.compile(r" \(b\d of [^)]*\)")
"""A role that a plan names by the server is none."""


def stories_page(entrants: Sequence[Entrant], found: Sequence[Cell], folder: Path, below: str, table: str) -> str:
    """The page, as Markdown.

    Args:
        entrants: of the survey.
        found: its cells.
        folder: of all runs.
        below: how the page gets to that folder.
        table: the name of the page with the tables.
    """
    return "\n".join(_lines({one.name: one for one in entrants}, found, folder, below, table)).rstrip("\n") + "\n"


def _lines(entrants: dict[str, Entrant], found: Sequence[Cell], folder: Path, below: str, table: str) -> Iterator[str]:
    yield from ("# Real systems side by side: a run of each cell", "")
    yield f"[The table]({table}) counts all runs; here stands the one of each cell that lost most, as it happened. Times are"
    yield "seconds since the clients began. The same plan again strikes the same way; what the system does then is up to chance."
    yield ""
    for cell in found:
        if cell.told is not None:
            yield from _story(entrants[cell.system], cell, cell.told, folder, below)


def _story(one: Entrant, cell: Cell, run: Run, folder: Path, below: str) -> Iterator[str]:
    counted, name = run.counted, run.planned.name
    if counted is None:
        return
    yield from (f"## {heading_of(cell)}", "")
    yield f"Plan {run.planned.plan.index} of seed {run.planned.plan.seed}, {run.kept.played[:10]}. Verdict: {run.kept.valid},"
    yield f"by the promise `{run.kept.contract}`."
    yield ""
    yield from (f"- {_NODE.sub('', words)}" for words in counted.struck)
    gone = (
        f"{counted.lost} of {counted.acked} acknowledged records are gone"
        if counted.lost
        else f"none of {counted.acked} acknowledged records is gone"
    )
    yield f"- In the end {gone}. The longest time without an acknowledgement: {counted.silent_us / 1e6:.1f} s."
    yield from (f"- {_plain(words)}" for words in sorted(counted.found, key=lambda words: not words.startswith(LOSSES)))
    if (folder / name / REPORT).exists():
        yield f"- [The whole run, drawn]({below}/{name}/{REPORT})."
    yield from ("", "```", command_of(one, f"{below_root(below)}/{name}/{PLAN}"), "```", "")


def below_root(below: str) -> str:
    """How a folder is typed at the root of the repository."""
    return below.removeprefix("../")


def command_of(one: Entrant, plan: str) -> str:
    """What plays a stored plan again, whose times are the system's already."""
    name = one.name.partition("+")[0]
    words = ["tidemark run", f"--plan {plan}", "--time-scale 1"]
    if name.startswith("tidemark"):
        words[1:1] = ["--world docker", f"--variant {one.variant}"]
    else:
        words[1:1] = [f"--system {name}"]
    return " ".join([*words, *(f"--broker-config {key}={value}" for key, value in one.settings.items())])


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")
