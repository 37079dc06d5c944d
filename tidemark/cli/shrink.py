"""``tidemark shrink``: from a failing run to the least plan that shows the same."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from tidemark.checkers.verdict.verdict import VIOLATION
from tidemark.cli import options as given
from tidemark.cli.corpus import corpus_option, keep
from tidemark.cli.exits import ANOMALY, INTERRUPTED, UNKNOWN, VALID
from tidemark.cli.output import output
from tidemark.cli.own_rules import rule_option
from tidemark.cli.plan_options import PlanOptions
from tidemark.cli.refused import refused
from tidemark.cli.shrink_task import VARIANT, Aim, NothingToShrinkError, Task, aim_of, task_of
from tidemark.cli.shrink_text import Shown, as_json, print_shrunk
from tidemark.cli.typed_options import Options, argument, group, option, shared, taking
from tidemark.cli.writing_to import writing_file
from tidemark.harness.search.corpus.played_again import violation_under
from tidemark.harness.search.shrink import INTERRUPTED as STOPPED
from tidemark.harness.search.shrink import Budget, Shrunk, how_often, shrink
from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import PlanError

if TYPE_CHECKING:
    from rich.status import Status

    from tidemark.harness.runs.judged import JudgedRun
    from tidemark.nemesis import Plan

TRIES = 10
"""So many other noises tell how much luck the shrunk plan needs."""

EPILOG = """\b
Examples:
  tidemark shrink --variant kafka-0.10 --index 3              a random plan that fails (tidemark run says which do)
  tidemark shrink --plan plan.json --variant kafka-0.11       a plan of your own
  tidemark shrink results/runs/kafka-0.10-1-98-docker         a run on real processes, looked for in the model
  tidemark shrink results/soak/kafka-2.8.2@0.10.2/destructive/plan-1-4-0f3a --variant kafka-0.10
  tidemark shrink --variant kafka-2.0 --index 112 --anomaly truncated-under-consumer --replays 500
  tidemark shrink --variant kafka-0.10 --index 3 --script lost.scenario     and as a script, to play on real brokers

\b
What is left is written as a plan, and can be run, edited, and drawn: tidemark run --plan given.FILE --report.
Exit codes: 1 shrunk, 0 the run shows no violation, 2 unknown (no replay showed it), 130 ended by Ctrl-C; the best is kept."""


class ShrinkOptions(Options):
    """What ``tidemark shrink`` can be asked."""

    run: Path | None = argument(required=False, type=click.Path(path_type=Path, exists=True, file_okay=False))
    variant: str | None = option(
        f"Protocol variant.  [default: the stored run's, else {VARIANT}]", type=given.VariantName()
    )
    plan: PlanOptions = group(PlanOptions)
    contract: str | None = shared(given.contract_option)
    anomaly: str | None = option(
        "Anomaly to keep.  [default: the first violation that the others follow from]", metavar="NAME"
    )
    noises: int = option("Noises to try each candidate under.", type=click.IntRange(1, 100), default=4)
    replays: int = option("Stop after so many replays.", type=given.POSITIVE, default=5_000)
    seconds: float | None = option("Stop after so long; not reproducible.", type=given.RealRange(min=0, min_open=True))
    out: Path | None = option(
        "File of the shrunk plan.  [default: results/shrunk/VARIANT-SEED-INDEX.json]", type=given.FILE
    )
    corpus: Path = shared(corpus_option)
    repaired: str | None = option(
        "Variant without the bug, under which what is left must show no violation.", type=given.VariantName()
    )
    script_file: Path | None = option(
        "Write what is left as a script too, which plays anywhere (docs/scenarios.md).", "--script", type=given.NEW_FILE
    )
    as_json: bool = shared(given.json_option)


@click.command("shrink", epilog=EPILOG)
@rule_option
@taking(ShrinkOptions)
def shrink_command(options: ShrinkOptions) -> int:
    """Shrink a failing run to the least plan that shows the same anomaly of the same cause.

    RUN is the folder of a stored run; without it a random plan is taken, or --plan. Faults, records, brokers and noise are dropped,
    times and targets made plain, as long as some replay in the simulator still shows the anomaly. The same input and options give
    the same plan.
    """
    task = task_of(options.run, options.plan, options.variant, options.contract, options.anomaly)
    file = options.out or given.RESULTS / "shrunk" / f"{task.name}.json"
    given.writable_folder(file.parent)
    budget = Budget(options.replays, options.seconds)

    def run(plan: Plan) -> JudgedRun:
        with refused(PlanError):
            return execute(plan, task.variant, options.contract)

    try:
        with output(stderr=True).status("looking for the anomaly") as status:
            shown = Shown(status, budget, options.replays, file)
            aim = aim_of(task, run, budget, options.anomaly, options.noises)
            replayed = shown.watching(run)
            shrunk = shrink(aim.plan, aim.cause, replayed, budget=budget, noises=options.noises, watch=shown.tell)
            found = _found(shrunk, aim, budget)
            shown.keep(found.after)
            kept = _kept(found, task, options)
            often = _how_often(found, run)
            script = _scripted(found, task, options.script_file, status)
    except NothingToShrinkError as nothing:
        if options.as_json:
            click.echo(json.dumps({"variant": task.variant, "plan": None, "why": str(nothing)}))
        else:
            click.echo(str(nothing))
        return nothing.code
    if options.as_json:
        found_told = as_json(found, aim, task, file, often) | {"kept": None if kept is None else str(kept)}
        click.echo(json.dumps(found_told | script.to_json()))
    else:
        print_shrunk(output(), found, aim, task, file, often)
        if kept is not None:
            click.echo(f"  kept in {kept}")
        script.tell(output())
    if found.ended == STOPPED:
        return INTERRUPTED
    return ANOMALY if found.cause.verdict == VIOLATION else VALID


def _kept(found: Shrunk, task: Task, options: ShrinkOptions) -> Path | None:
    """Its file in the corpus, if it is the smallest there; the repair is named if it is one."""
    repaired = options.repaired
    if repaired is not None and (still := violation_under(found.after, repaired, options.contract)):
        click.echo(f"{repaired} is no repair of what is left: under it there is {still}", err=True)
        repaired = None
    shown = (found.cause, found.anomaly.message)
    origin = f"tidemark shrink of {task.source}"
    return keep(options.corpus, found.after, task.variant, task.contract, shown, origin, repaired)


def _found(found: Shrunk | None, aim: Aim, budget: Budget) -> Shrunk:
    if found is None:
        why = "No replay was left to show" if budget.is_spent() else "No replay showed"
        raise NothingToShrinkError(UNKNOWN, f"{why} this again: {aim.cause}.")
    return found


def _how_often(found: Shrunk, run: Callable[[Plan], JudgedRun]) -> tuple[int, int] | None:
    """Under how many other noises what is left shows it, and of how many; None if nobody waits for that."""
    try:
        return None if found.ended == STOPPED else how_often(found.after, found.cause, run, TRIES)
    except KeyboardInterrupt:
        return None


@dataclass(frozen=True, slots=True)
class _Scripted:
    """What became of the script, if one was asked for: in how many hard worlds it shows the anomaly, or why there is none."""

    file: Path | None = None
    shown: tuple[int, int] | None = None
    why_not: str = ""

    def to_json(self) -> dict[str, Any]:
        """Nothing, if nobody asked for it."""
        if self.file is None:
            return {}
        return {
            "script": str(self.file) if self.shown else None,
            "script_shown_in_hard_worlds": self.shown,
            "no_script": self.why_not or None,
        }

    def tell(self, console: Console) -> None:
        """In a line or two."""
        if self.shown is not None:
            words = f"  tidemark scenario {quote(str(self.file))}"
            shown, of = self.shown
            console.print(words, soft_wrap=True, highlight=False, markup=False)
            words = f"  shown by that script, and in {shown} of {of} simulated worlds with slow hands and messages"
            console.print(words, soft_wrap=True, highlight=False)
        elif self.why_not:
            console.print(f"  no script: {self.why_not}", soft_wrap=True, highlight=False, markup=False)


def _scripted(found: Shrunk, task: Task, file: Path | None, status: Status) -> _Scripted:
    """Write the script, if it is asked for. That there is none is no failure: the plan stays."""
    if file is None:
        return _Scripted()
    if found.ended == STOPPED:
        return _Scripted(file, None, "the search was ended by Ctrl-C")
    from tidemark.harness.search.script import NoScriptError, write_script

    name = _script_name(file.stem)
    try:
        written = write_script(
            found.after, task.variant, found.cause, contract=task.contract, name=name, tell=status.update
        )
    except NoScriptError as error:
        return _Scripted(file, None, str(error))
    except KeyboardInterrupt:
        return _Scripted(file, None, "it was ended by Ctrl-C")
    with writing_file(file, "; choose another with --script"):
        file.write_text(written.text, encoding="utf-8")
    return _Scripted(file, (written.sturdy, written.of))


def _script_name(stem: str) -> str:
    """A name for a script from that of its file."""
    return re.sub(r"[^A-Za-z0-9.+_-]+", "-", stem) or "found-by-hunt"
