"""What ``tidemark shrink`` says: how far it is, and what is left of the plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from tidemark.cli.show import MARKS
from tidemark.cli.shrink_task import Aim, Task
from tidemark.cli.writing_to import writing_file
from tidemark.harness.runs.own_rules import variant_options
from tidemark.harness.search.shrink import Budget, Progress, Shrunk, facts_with_numbers
from tidemark.harness.search.shrink.in_words import conditions, count, lines_of, shape
from tidemark.harness.search.shrink.size import records_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

    from tidemark.harness.runs.judged import JudgedRun
    from tidemark.nemesis import Plan


class Shown:
    """The line that says how far it is, and the file that has the best plan at any moment."""

    def __init__(self, status: Status, budget: Budget, most: int, file: Path) -> None:
        self._file = file
        self._status = status
        self._budget = budget
        self._most = most
        self._doing = ""
        self._best = ""

    def tell(self, progress: Progress) -> None:
        """Something else is tried, or the plan is smaller."""
        self._doing = progress.doing or self._doing
        self._best = shape(progress.best)
        self._update()
        self.keep(progress.best)

    def keep(self, plan: Plan) -> None:
        """Write the plan, so that whatever ends the search leaves it."""
        with writing_file(self._file, "; choose another with --out"):
            self._file.write_text(plan.to_text(), encoding="utf-8")

    def watching(self, run: Callable[[Plan], JudgedRun]) -> Callable[[Plan], JudgedRun]:
        """The same, telling of every replay."""

        def watched(plan: Plan) -> JudgedRun:
            self._update()
            return run(plan)

        return watched

    def _update(self) -> None:
        replays = f"replay {self._budget.replays} of at most {self._most}"
        self._status.update("  ".join(part for part in (self._best, self._doing, replays) if part))


def _command(task: Task, file: Path) -> str:
    contract = "" if task.contract is None else f" --contract {task.contract}"
    return f"tidemark run --plan {quote(str(file))} {variant_options(task.variant)}{contract}"


def as_json(found: Shrunk, aim: Aim, task: Task, file: Path, often: tuple[int, int] | None) -> dict[str, Any]:
    """What came of it, in JSON."""
    return {
        "variant": task.variant,
        "plan": str(file),
        "cause": asdict(found.cause),
        "anomaly": found.anomaly.to_json(),
        "before": _numbers(found.before, aim.acked),
        "after": _numbers(found.after, found.run.verdict.stats["acked"]),
        "ended": found.ended,
        "candidates": found.candidates,
        "replays": found.replays,
        "shown_under_other_noises": often,
        "notes": list(aim.notes),
        "replay": _command(task, file),
    }


def _numbers(plan: Plan, acked: int) -> dict[str, int | None]:
    return {
        "faults": len(plan.faults),
        "records_sent": None if plan.workload.sends is None else records_of(plan),
        "records_acked": acked,
        "brokers": plan.cluster.brokers,
        "partitions": plan.cluster.partitions,
    }


def print_shrunk(
    console: Console, found: Shrunk, aim: Aim, task: Task, file: Path, often: tuple[int, int] | None
) -> None:
    """What came of it, for a person: what is left, why it shows the anomaly, and the command that plays it."""

    def tell(words: str) -> None:
        console.print(words, soft_wrap=True, highlight=False)

    before, after = found.before, found.after
    tell(f"[bold]{task.variant}[/], plan {before.index} of seed {before.seed} ({escape(before.profile)})")
    facts = facts_with_numbers(found.anomaly, found.run.verdict, found.run.history) or found.cause.facts
    tell(f"[bold]{found.cause.name}[/], because {escape('; '.join(facts))}")
    for note in aim.notes:
        tell(f"  [dim]{escape(note)}[/]")
    tell(f"  before: {shape(before)}, {aim.acked} acknowledged")
    tell(
        f"  after:  {shape(after)}, {found.run.verdict.stats['acked']} acknowledged  [dim]({found.candidates} candidates, "
        f"{count(found.replays, 'replay')}: {found.ended})[/]"
    )
    tell(f"  {conditions(after)}")
    for line in lines_of(after):
        tell(f"    {escape(line)}")
    tell(f"{MARKS[found.anomaly.verdict]} {escape(found.anomaly.message)}")
    if often is not None:
        others = "delays" if after.fixed_delay_us is not None else "noises"
        tell(f"  seen under {often[0]} of {often[1]} other {others}")
    tell(f"  {escape(_command(task, file))}")
