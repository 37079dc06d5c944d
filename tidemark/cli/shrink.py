"""``tidemark shrink``: from a failing run to the least plan that shows the same."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from rich.console import Console
from rich.markup import escape

from tidemark.checkers import HistoryFormatError
from tidemark.checkers.verdict.verdict import VIOLATION
from tidemark.cli.corpus import corpus_option, keep
from tidemark.cli.exits import ANOMALY, INTERRUPTED, UNKNOWN, VALID, exit_code
from tidemark.cli.options import (
    CLUSTER_OPTIONS,
    RESULTS,
    SEED,
    RealRange,
    VariantName,
    cluster_options,
    contract_option,
    json_option,
    profile_option,
    writable_folder,
)
from tidemark.cli.own_rules import rule_option
from tidemark.cli.run import plan_of
from tidemark.cli.show import MARKS
from tidemark.harness.runs.own_rules import variant_options
from tidemark.harness.search.corpus.played_again import violation_under
from tidemark.harness.search.shrink import INTERRUPTED as STOPPED
from tidemark.harness.search.shrink import (
    Budget,
    BudgetSpentError,
    Cause,
    Progress,
    Shrunk,
    causes_of,
    facts_with_numbers,
    how_often,
    shrink,
)
from tidemark.harness.search.shrink.as_it_happened import ways_it_may_have_gone
from tidemark.harness.search.shrink.choice import chosen
from tidemark.harness.search.shrink.in_words import conditions, count, lines_of, shape
from tidemark.harness.search.shrink.size import records_of
from tidemark.harness.search.shrink.stored_run import StoredRun, in_model, stored_run
from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import PlanError
from tidemark.nodes.core.variant import VariantError
from tidemark.nodes.families import parse_variant

if TYPE_CHECKING:
    from rich.status import Status

    from tidemark.harness.runs.judged import JudgedRun
    from tidemark.nemesis import Plan

TRIES = 10
"""So many other noises tell how much luck the shrunk plan needs."""
IN_MODEL = 4
"""What a run of a real world showed is looked for in the model under so many times as many noises."""
VARIANT = "kafka-2.7"

EPILOG = """\b
Examples:
  tidemark shrink --variant kafka-0.10 --index 3              a random plan that fails (tidemark run says which do)
  tidemark shrink --plan plan.json --variant kafka-0.11       a plan of your own
  tidemark shrink results/runs/kafka-0.10-1-98-docker         a run on real processes, looked for in the model
  tidemark shrink results/soak/kafka-2.8.2@0.10.2/destructive/plan-1-4-0f3a --variant kafka-0.10
  tidemark shrink --variant kafka-2.0 --index 112 --anomaly truncated-under-consumer --replays 500
  tidemark shrink --variant kafka-0.10 --index 3 --script lost.scenario     and as a script, to play on real brokers

\b
What is left is written as a plan, and can be run, edited, and drawn: tidemark run --plan FILE --report.
Exit codes: 1 shrunk, 0 the run shows no violation, 2 unknown (no replay showed it), 130 ended by Ctrl-C; the best is kept."""


class _NothingToShrinkError(Exception):
    """Nothing can be shrunk; with the exit code, and a sentence that says why."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(words)
        self.code = code


@dataclass(frozen=True, slots=True)
class _Task:
    """What is to be shrunk.

    Attributes:
        plan, variant, contract: what is replayed, and by which promise it is judged (None: the variant's own).
        name: what it is called. source: what it is shrunk from, in words. stored: the run it comes from, if it is a stored one.
    """

    plan: Plan
    variant: str
    contract: str | None
    name: str
    source: str
    stored: StoredRun | None


@dataclass(frozen=True, slots=True)
class _Aim:
    """What is looked for: a plan that shows it, the cause, how many records were acknowledged at first, and what to know."""

    plan: Plan
    cause: Cause
    acked: int
    notes: tuple[str, ...] = ()


@click.command("shrink", epilog=EPILOG)
@click.argument("run", required=False, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--variant", type=VariantName(), help=f"Protocol variant.  [default: the stored run's, else {VARIANT}]")
@click.option(
    "--plan", "plan_file", type=click.Path(path_type=Path, dir_okay=False), help="Plan file, instead of a random plan."
)
@click.option("--seed", type=SEED, default=1, show_default=True, help="Seed of the random plans.")
@click.option("--index", type=click.IntRange(min=0), default=0, show_default=True, help="Which plan of the seed.")
@profile_option
@cluster_options
@contract_option
@click.option(
    "--anomaly", metavar="NAME", help="Anomaly to keep.  [default: the first violation that the others follow from]"
)
@click.option(
    "--noises", type=click.IntRange(1, 100), default=4, show_default=True, help="Noises to try each candidate under."
)
@click.option(
    "--replays", type=click.IntRange(min=1), default=5_000, show_default=True, help="Stop after so many replays."
)
@click.option("--seconds", type=RealRange(min=0, min_open=True), help="Stop after so long; not reproducible.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File of the shrunk plan.  [default: results/shrunk/VARIANT-SEED-INDEX.json]",
)
@corpus_option
@click.option(
    "--repaired", type=VariantName(), help="Variant without the bug, under which what is left must show no violation."
)
@click.option(
    "--script",
    "script_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write what is left as a script too, which plays anywhere (docs/scenarios.md).",
)
@json_option
@rule_option
def shrink_command(**options: Any) -> int:  # noqa: ANN401 - click hands them over by name
    """Shrink a failing run to the least plan that shows the same anomaly of the same cause.

    RUN is the folder of a stored run; without it a random plan is taken, or --plan. Faults, records, brokers and noise are dropped,
    times and targets made plain, as long as some replay in the simulator still shows the anomaly. The same input and options give
    the same plan.
    """
    task = _task(options)
    file = options["out"] or RESULTS / "shrunk" / f"{task.name}.json"
    writable_folder(file.parent)
    budget = Budget(options["replays"], options["seconds"])

    def run(plan: Plan) -> JudgedRun:
        try:
            return execute(plan, task.variant, options["contract"])
        except PlanError as error:
            raise click.ClickException(str(error)) from None

    try:
        with Console(stderr=True).status("looking for the anomaly") as status:
            shown = _Shown(status, budget, options["replays"], file)
            aim = _aim(task, run, budget, options)
            noises = options["noises"]
            replayed = shown.watching(run)
            shrunk = shrink(aim.plan, aim.cause, replayed, budget=budget, noises=noises, watch=shown.tell)
            found = _found(shrunk, aim, budget)
            shown.keep(found.after)
            kept = _kept(found, task, options)
            often = _how_often(found, run)
            scripted = _scripted(found, task, options["script_file"], status)
    except _NothingToShrinkError as nothing:
        if options["as_json"]:
            click.echo(json.dumps({"variant": task.variant, "plan": None, "why": str(nothing)}))
        else:
            click.echo(str(nothing))
        return nothing.code
    if options["as_json"]:
        found_told = _as_json(found, aim, task, file, often) | {"kept": None if kept is None else str(kept)}
        click.echo(json.dumps(found_told | scripted.to_json()))
    else:
        _print(Console(), found, aim, task, file, often)
        if kept is not None:
            click.echo(f"  kept in {kept}")
        scripted.tell(Console())
    if found.ended == STOPPED:
        return INTERRUPTED
    return ANOMALY if found.cause.verdict == VIOLATION else VALID


def _kept(found: Shrunk, task: _Task, options: dict[str, Any]) -> Path | None:
    """Its file in the corpus, if it is the smallest there; the repair is named if it is one."""
    repaired = options["repaired"]
    if repaired is not None and (still := violation_under(found.after, repaired, options["contract"])):
        click.echo(f"{repaired} is no repair of what is left: under it there is {still}", err=True)
        repaired = None
    shown = (found.cause, found.anomaly.message)
    return keep(
        options["corpus"],
        found.after,
        task.variant,
        task.contract,
        shown,
        f"tidemark shrink of {task.source}",
        repaired,
    )


def _found(found: Shrunk | None, aim: _Aim, budget: Budget) -> Shrunk:
    if found is None:
        why = "No replay was left to show" if budget.is_spent() else "No replay showed"
        raise _NothingToShrinkError(UNKNOWN, f"{why} this again: {aim.cause}.")
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


def _scripted(found: Shrunk, task: _Task, file: Path | None, status: Status) -> _Scripted:
    """Write the script, if it is asked for. That there is none is no failure: the plan stays."""
    if file is None:
        return _Scripted()
    if found.ended == STOPPED:
        return _Scripted(file, None, "the search was ended by Ctrl-C")
    from tidemark.harness.search.script import NoScriptError, write_script

    name = script_name(file.stem)
    try:
        written = write_script(
            found.after, task.variant, found.cause, contract=task.contract, name=name, tell=status.update
        )
    except NoScriptError as error:
        return _Scripted(file, None, str(error))
    except KeyboardInterrupt:
        return _Scripted(file, None, "it was ended by Ctrl-C")
    try:
        file.write_text(written.text, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"cannot write {file}: {error.strerror}; choose another with --script") from None
    return _Scripted(file, (written.sturdy, written.of))


def script_name(stem: str) -> str:
    """A name for a script from that of its file."""
    return re.sub(r"[^A-Za-z0-9.+_-]+", "-", stem) or "found-by-hunt"


def _task(options: dict[str, Any]) -> _Task:
    folder: Path | None = options["run"]
    if folder is None:
        variant = options["variant"] or VARIANT
        plan = plan_of(options)
        file = options["plan_file"]
        name = file.stem if file else f"{plan.seed}-{plan.index}"
        source = file.stem if file else f"plan {plan.index} of seed {plan.seed} ({plan.profile})"
        return _Task(plan, variant, options["contract"], f"{variant}-{name}", source, None)
    context = click.get_current_context()
    for name in ("plan_file", "seed", "index", "profile", *CLUSTER_OPTIONS):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = "--plan" if name == "plan_file" else f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{option} cannot be given with a stored run: its plan says it")
    try:
        stored = stored_run(folder, options["anomaly"], options["contract"])
    except (PlanError, HistoryFormatError) as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"{folder} is no run's folder: {error.filename}: {error.strerror}") from None
    variant = options["variant"] or stored.variant
    if variant is None:
        raise click.UsageError("the history does not say which variant ran: name one with --variant")
    try:
        variant = parse_variant(variant).name
    except VariantError as error:
        raise click.UsageError(
            f"the stored run's variant is none of the model's ({error}): name one with --variant"
        ) from None
    own = folder.resolve().name
    name = own if own.startswith(variant) else f"{variant}-{own}"
    return _Task(stored.plan, variant, options["contract"], name, own, stored)


def _aim(task: _Task, run: Callable[[Plan], JudgedRun], budget: Budget, options: dict[str, Any]) -> _Aim:
    """What to look for.

    Raises:
        _NothingToShrinkError: there is nothing, or the model does not show it.
    """
    name, stored = options["anomaly"], task.stored
    what = name or "violation"
    if stored is None:
        first = run(task.plan)
        anomaly = chosen(first.verdict, name)
        if anomaly is None:
            raise _NothingToShrinkError(
                exit_code([first.verdict.valid]) if name is None else UNKNOWN,
                f"This plan shows no {what} under {task.variant}: there is nothing to shrink.",
            )
        return _Aim(task.plan, causes_of(anomaly, first.verdict, first.history)[0], first.verdict.stats["acked"])
    if stored.anomaly is None or stored.cause is None:
        code = exit_code([stored.verdict.valid]) if name is None else UNKNOWN
        raise _NothingToShrinkError(code, f"The stored run shows no {what}: there is nothing to shrink.")
    notes = [f"left out, for the simulator cannot do them: {', '.join(stored.left_out)}"] if stored.left_out else []
    acked = stored.verdict.stats["acked"]
    if not stored.is_real:
        return _Aim(task.plan, stored.cause, acked, tuple(notes))
    ways = ways_it_may_have_gone(task.plan, stored.happened, IN_MODEL * options["noises"])
    try:
        found = in_model(ways, stored.anomaly, stored.cause, run, budget=budget)
    except BudgetSpentError:
        found = None
    if found is None:
        raise _NothingToShrinkError(
            UNKNOWN,
            f"The model, {task.variant}, shows no {stored.anomaly.name} with this plan or with what this run did, in any of "
            f"{budget.replays} replays under other noises and delays.",
        )
    plan, cause = found
    if cause != stored.cause:
        notes.append(f"in the stored run: {'; '.join(stored.cause.facts)}")
    return _Aim(plan, cause, acked, tuple(notes))


class _Shown:
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
        try:
            self._file.write_text(plan.to_text(), encoding="utf-8")
        except OSError as error:
            raise click.ClickException(
                f"cannot write {self._file}: {error.strerror}; choose another with --out"
            ) from None

    def watching(self, run: Callable[[Plan], JudgedRun]) -> Callable[[Plan], JudgedRun]:
        """The same, telling of every replay."""

        def watched(plan: Plan) -> JudgedRun:
            self._update()
            return run(plan)

        return watched

    def _update(self) -> None:
        replays = f"replay {self._budget.replays} of at most {self._most}"
        self._status.update("  ".join(part for part in (self._best, self._doing, replays) if part))


def _command(task: _Task, file: Path) -> str:
    contract = "" if task.contract is None else f" --contract {task.contract}"
    return f"tidemark run --plan {quote(str(file))} {variant_options(task.variant)}{contract}"


def _as_json(found: Shrunk, aim: _Aim, task: _Task, file: Path, often: tuple[int, int] | None) -> dict[str, Any]:
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


def _print(console: Console, found: Shrunk, aim: _Aim, task: _Task, file: Path, often: tuple[int, int] | None) -> None:
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
