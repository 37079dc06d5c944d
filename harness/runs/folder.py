"""The folder of one run: plan, history, verdict, report (docs/results-folder.md)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tidemark.checkers import read_history, read_stream, write_history
from tidemark.checkers.history.opened import open_history

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.checkers import History, Verdict
    from tidemark.nemesis import Plan

PLAN, HISTORY, VERDICT, REPORT = "plan.json", "history.jsonl", "verdict.json", "report.html"


def store_plan(folder: Path, plan: Plan) -> None:
    """Begin a run's folder with its plan."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / PLAN).write_text(plan.to_text(), encoding="utf-8")


def store_history(folder: Path, plan: Plan, history: History) -> None:
    """Write plan and history; both are on disk before checking starts."""
    store_plan(folder, plan)
    write_history(history, folder / HISTORY)


def store_verdict(folder: Path, verdict: Verdict, digest: str | None = None) -> None:
    """Write the verdict, with the run's digest; a digest that is there already is kept when none is given. An empty one stands for
    a history that is not the whole run's, and is not written.
    """
    path = folder / VERDICT
    if digest is None and path.exists():
        digest = json.loads(path.read_text(encoding="utf-8")).get("digest")
    data = verdict.to_json() | ({"digest": digest} if digest else {})
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def store_verdict_again(folder: Path, verdict: Verdict, history: History) -> None:
    """Write the verdict of a stored history; the digest names the whole run, and nothing less."""
    store_verdict(folder, verdict, "" if history.cut_off or history.gaps else None)


def load_history(path: Path) -> History:
    """The history in a run's folder, or in a file of any kind; one whose last line was cut off is known to be only a beginning.

    Raises:
        HistoryFormatError: the file is no history.
        OSError: it cannot be read.
    """
    if path.is_dir():
        return read_history(path / HISTORY, allow_torn_tail=True)
    return load_file(path)


def load_file(path: Path, *, forms: bool = False, rows: bool = False) -> History:
    """The history in a file: JSON lines, EDN, or Parquet. `forms` keeps the operations of EDN as they are there,
    `rows` all values (`checkers.read_stream`).

    Raises:
        HistoryFormatError: the file is no history.
        OSError: it cannot be read.
    """
    with open_history(path) as file:
        if file.peek(4)[:4] != b"PAR1":
            return read_stream(
                file, allow_torn_tail=True, forms=forms, rows=rows
            )  # of a pipe nothing can be read twice
    from tidemark.harness.runs.parquet_history import read_parquet

    return read_parquet(path, rows=rows)
