"""Random plans for a terminal: how it goes, and what they came to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from tidemark.harness.live.side_by_side import Job, SideBySide
from tidemark.harness.runs.kept_results import KeptResults
from tidemark.harness.soak.kept_run import INVALID, MISSING, REFUSED, UNKNOWN, VALID, KeptRun
from tidemark.harness.soak.planned import PlannedRun
from tidemark.harness.soak.run_all import Runner, Watcher
from tidemark.harness.soak.tally import listed, tally


class SoakProgress:
    """A bar over all runs, and what the run under way is doing. Where there is no terminal, a line for each run.

    Args:
        kept: all runs; looked at after each.
        console: where to draw.
    """

    def __init__(self, kept: Sequence[KeptRun], console: Console) -> None:
        self._kept = [one for one in kept if one.valid != REFUSED]
        self._console = console
        self._words = ""
        self._runner: Runner | None = None
        self.side_by_side: SideBySide | None = None
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[found]}"),
            TextColumn("left"),
            TimeRemainingColumn(compact=True),
            _Now(self),
            console=console,
            disable=not console.is_terminal,
        )
        self._bar = self._progress.add_task("soak", total=len(self._kept), completed=self._done(), found=self._found())

    def __enter__(self) -> Self:
        """Start to draw."""
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the last state on the screen."""
        self._words, self._runner = "", None
        self._progress.stop()

    def begins(self, run: PlannedRun, runner: Runner) -> None:
        """A run begins."""
        self._words, self._runner = run.words, runner

    def came_out(self, run: PlannedRun, kept: KeptRun) -> None:
        """A run is over."""
        self._progress.update(self._bar, completed=self._done(), found=self._found())
        why = {INVALID: listed(kept.violations), UNKNOWN: kept.why}.get(kept.valid, "")
        if not self._console.is_terminal or kept.valid != VALID:
            words = f"{self._done()} of {len(self._kept)}: {run.words}: {kept.valid}{f': {why}' if why else ''}"
            self._console.print(f"{words} ({kept.seconds:.0f} s)", highlight=False, markup=False, soft_wrap=True)

    @property
    def now(self) -> str:
        """What is being done; on a line for each cluster, if there are several."""
        if self.side_by_side is not None:
            return "\n".join(self.side_by_side.doing)
        doing = getattr(self._runner, "progress", "")
        return f"{self._words}: {doing}" if self._words and str(doing) else self._words

    def _done(self) -> int:
        return sum(one.valid != MISSING for one in self._kept)

    def _found(self) -> str:
        counts = {standing: sum(one.valid == standing for one in self._kept) for standing in (INVALID, UNKNOWN)}
        return f"{counts[INVALID]} violated, {counts[UNKNOWN]} unknown"


class _Now(ProgressColumn):
    """What is being done, as of now: the run under way changes it all the time."""

    max_refresh = 0.2

    def __init__(self, progress: SoakProgress) -> None:
        super().__init__()
        self._of = progress

    def render(self, task: Task) -> Text:
        return Text(self._of.now, overflow="ellipsis", no_wrap=True, style="dim")


class _Told:
    """In a process that works: passes on what the watcher is to know."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def begins(self, run: PlannedRun, runner: Runner) -> None:
        """A run begins."""
        self._job.now = lambda: f"{run.words}: {getattr(runner, 'progress', '')}"

    def came_out(self, run: PlannedRun, kept: KeptRun) -> None:
        """A run is over, and its result is kept."""
        self._job.now = str
        self._job.tell(run.name)


def run_side_by_side(
    jobs: int,
    run_all: Callable[[Watcher, Callable[[str], None]], None],
    runs: Sequence[tuple[PlannedRun, KeptRun]],
    results: KeptResults,
    progress: SoakProgress,
) -> None:
    """Carry out what is missing in several processes, which claim runs from each other, and show it.

    Args:
        jobs: how many.
        run_all: what each does, given who is told how it goes, and who is told what takes long.
        runs: with what is kept of each, which is brought up to date.
        results: where they are kept.
        progress: shows how it goes.

    Raises:
        Exception: what one of them raised.
    """

    def work(job: Job) -> None:
        def tell(words: str) -> None:
            job.now = lambda: words

        run_all(_Told(job), tell)

    of_name = {run.name: (run, kept) for run, kept in runs}
    with SideBySide(jobs, work) as processes, progress:
        progress.side_by_side = processes
        for name in processes.heard():
            if name is not None:
                run, kept = of_name[name]
                progress.came_out(run, kept.renewed(run, results))


def show_soak(kept: Sequence[KeptRun], console: Console) -> None:
    """A row for each system and profile."""
    table = Table("system", "profile", "runs", "valid", "violated", "unknown", "missing", "by kind")
    for one in tally(kept):
        style = "bold red" if one.invalid else ""
        table.add_row(
            one.system,
            one.profile,
            str(one.runs),
            str(one.valid),
            Text(str(one.invalid), style=style),
            str(one.unknown),
            str(one.missing or ""),
            listed(one.violations) if one.violations else "",
        )
    console.print(table)
    for why in dict.fromkeys(one.why for one in kept if one.valid == REFUSED):
        console.print(f"cannot be run: {why}", highlight=False, markup=False, soft_wrap=True)
    console.print(sentence(kept), highlight=False, markup=False, soft_wrap=True)


def sentence(kept: Sequence[KeptRun]) -> str:
    """The totals in words."""
    counts = {standing: sum(one.valid == standing for one in kept) for standing in (VALID, INVALID, UNKNOWN, MISSING)}
    refused = sum(one.valid == REFUSED for one in kept)
    words = f"{sum(counts.values()) - counts[MISSING]} of {sum(counts.values())} runs are done: {counts[VALID]} valid, "
    words += f"{counts[INVALID]} violated, {counts[UNKNOWN]} unknown"
    return words + (f"; {refused} cannot be run" if refused else "")
