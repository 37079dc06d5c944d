"""Judges kept histories again, with the checkers as they are now. Nothing is run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tidemark.checkers import HistoryFormatError, check
from tidemark.harness.runs.folder import load_history, store_verdict_again
from tidemark.harness.runs.kept_results import KeptResults
from tidemark.harness.soak.kept_run import RESULT, KeptRun
from tidemark.harness.soak.planned import PlannedRun


def judge_again(
    runs: Iterable[tuple[PlannedRun, KeptRun]], results: KeptResults
) -> Iterator[tuple[PlannedRun, KeptRun, str]]:
    """Every run that was carried out to its end, with its verdict until now; verdict and result are written anew.

    A history that cannot be read leaves its run as it is.
    """
    for run, kept in runs:
        before = kept.valid
        folder = results.folder / run.name
        if kept.has_history:
            try:
                history = load_history(folder)
            except (OSError, HistoryFormatError):
                continue
            verdict = check(history)
            kept.judged(history, verdict)
            store_verdict_again(folder, verdict, history)
            results.write(f"{run.name}/{RESULT}", kept.to_json())
            yield run, kept, before
