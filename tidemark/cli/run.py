"""``tidemark run``: one plan under one variant."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from rich.console import Console
from rich.markup import escape

from tidemark.checkers import Verdict, check
from tidemark.checkers.marks import exercised
from tidemark.cli.corpus import EVERY, OWN, keep, read_plan_or_kept, replay_corpus
from tidemark.cli.exits import UNKNOWN, exit_code
from tidemark.cli.extras import need
from tidemark.cli.for_ci import case_of, ci_options, tell_ci
from tidemark.cli.options import (
    CLUSTER_OPTIONS,
    RESULTS,
    SEED,
    VariantName,
    cluster_of,
    cluster_options,
    contract_option,
    json_option,
    profile_option,
    writable_folder,
)
from tidemark.cli.own_rules import rule_option
from tidemark.cli.show import print_verdict
from tidemark.cli.spread import jobs_option
from tidemark.cli.system_option import chosen_variants, suffix_of, system_of, system_options, time_scale_of, variant_on
from tidemark.cli.workload_options import refuse_beside_a_plan, with_workload, workload_options
from tidemark.cli.world import containers, refuse_container_options, world_options
from tidemark.harness.runs.folder import HISTORY, REPORT, store_history, store_verdict
from tidemark.harness.runs.judged import JudgedRun
from tidemark.harness.search.shrink.cause import causes_of
from tidemark.harness.search.shrink.choice import chosen
from tidemark.harness.simulator import simulate
from tidemark.nemesis import Plan, PlanError, generate_plan
from tidemark.nodes.families import parse_variant

if TYPE_CHECKING:
    from tidemark.harness.systems.system import System

EPILOG = """\b
Examples:
  tidemark run                                         plan 0 of seed 1 under kafka-2.7
  tidemark run --variant kafka-0.10 --index 30         another plan, an older rule
  tidemark run --plan plan.json --variant kafka-0.11   a plan of your own (or from a report), replayed
  tidemark run --index 4 --brokers 5 --partitions 3 --report
  tidemark run --world docker --variant kafka-0.10     the same plan, on real processes in containers
  tidemark run --world docker --profile machines --index 3 --clients aiokafka
  tidemark run --system kafka:2.8.2 --variant kafka-0.10   on real Kafka brokers that follow this rule
  tidemark run --system kafka:4.1.1 --index 7 --report     on today's Kafka
  tidemark run --producers 4 --rate 50 --batch 10 --duration 10     busier clients, and longer
  tidemark run --junit report.xml --annotations        for a CI system
  tidemark run --corpus                                every plan that was ever kept: does it show what it showed?
"""


class RunBrokenOffError(Exception):
    """The run was not carried out to its end; the message says why."""


@click.command("run", epilog=EPILOG)
@click.option("--variant", type=VariantName(), default="kafka-2.7", show_default=True, help="Protocol variant.")
@click.option(
    "--plan", "plan_file", type=click.Path(path_type=Path, dir_okay=False), help="Plan file, instead of a random plan."
)
@click.option("--seed", type=SEED, default=1, show_default=True, help="Seed of the random plans.")
@click.option("--index", type=click.IntRange(min=0), default=0, show_default=True, help="Which plan of the seed.")
@profile_option
@cluster_options
@contract_option
@world_options
@system_options
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder.  [default: results/runs/VARIANT-SEED-INDEX, with -docker in containers]",
)
@click.option("--report", is_flag=True, help="Write report.html as well.")
@click.option(
    "--keep", "is_kept", is_flag=True, help=f"Keep the plan in {OWN}: its violation, or that it must stay valid."
)
@click.option(
    "--corpus",
    type=click.Path(path_type=Path),
    is_flag=False,
    flag_value=EVERY,
    metavar="[FOLDER]",
    help="Play all kept plans again instead, of a folder or file; without one all of results/corpus and results/published/corpus.",
)
@workload_options
@jobs_option
@ci_options
@json_option
@rule_option
def run_command(**options: Any) -> int:  # noqa: ANN401 - click hands them over by name
    """Carry out one run, check it, and store plan, history and verdict."""
    if options["corpus"] is not None:
        return replay_corpus(options["corpus"], options)
    need(report=options["report"])
    system = system_of(options)
    refuse_container_options(options)
    _refuse(options)
    (options["variant"],) = chosen_variants(system, (options["variant"],), "variant")
    try:
        plan = plan_of(options).scaled(time_scale_of(options, system))
    except PlanError as error:
        raise click.UsageError(str(error)) from None
    variant, contract = options["variant"], options["contract"]
    out = options["out"] or RESULTS / "runs" / (
        (f"{variant}-{options['plan_file'].stem}" if options["plan_file"] else f"{variant}-{plan.seed}-{plan.index}")
        + suffix_of(options)
    )
    folder = writable_folder(out)
    try:
        run = (
            _simulated(plan, variant, contract, folder)
            if options["world"] == "sim"
            else _contained(plan, options, system, folder)
        )
    except RunBrokenOffError as error:
        return _broken_off(str(error), variant, folder, options)
    verdict = run.verdict
    store_verdict(folder, verdict, run.digest)
    _tell_ci(verdict, variant, folder, options)
    kept = _kept(plan, run, options) if options["is_kept"] else None
    if options["report"]:
        from tidemark.harness.report.pages import render_run
        from tidemark.harness.why import why_of

        why = why_of(plan, variant, contract, run.history, verdict, again=options["world"] == "sim")
        render_run(plan.to_json(), run.history, verdict, folder / REPORT, why)
    marks = exercised(run.history.trace)
    if options["as_json"]:
        told = {"variant": variant, "folder": str(folder), "digest": run.digest, **verdict.to_json()}
        if options["is_kept"]:
            told["kept"] = None if kept is None else str(kept)
        click.echo(json.dumps(told | {"exercised": {name: mark.times for name, mark in marks.items()}}))
    else:
        console = Console()
        console.print(
            f"[bold]{variant}[/], plan {plan.index} of seed {plan.seed} ({plan.profile}): {len(plan.faults)} faults, "
            f"{run.events} events, {run.virtual_us / 1e6:.1f} s{_OF[options['world']]}, digest {run.digest}"
        )
        print_verdict(verdict, console)
        for sentence in run.history.meta.get("not_suffered", ()):
            console.print(f"  left out of the plan: {sentence}", soft_wrap=True, highlight=False)
        if marks:
            console.print(f"  exercised: {', '.join(marks)}", soft_wrap=True, highlight=False)
        console.print(f"  {folder / HISTORY}" + (f", {folder / REPORT}" if options["report"] else ""))
        if options["is_kept"]:
            console.print(f"  kept: {kept or 'nothing new'}", soft_wrap=True)
    return exit_code([verdict.valid])


_OF = {"sim": " of virtual time", "docker": " in containers"}


def _refuse(options: dict[str, Any]) -> None:
    if options["jobs"] is not None:
        raise click.UsageError("--jobs is for --corpus: one run is one process")
    if options["is_kept"] and options["world"] != "sim":
        raise click.UsageError("--keep is for the simulator, in which kept plans are played again")


def _kept(plan: Plan, run: JudgedRun, options: dict[str, Any]) -> Path | None:
    found = chosen(run.verdict)
    if found is None and run.verdict.valid != "valid":
        raise click.ClickException("what is unknown is not kept")
    shown = None if found is None else (causes_of(found, run.verdict, run.history)[0], found.message)
    file = options["plan_file"]
    origin = f"tidemark run of {file.stem}" if file else f"plan {plan.index} of seed {plan.seed} ({plan.profile})"
    return keep(OWN, plan, options["variant"], options["contract"], shown, origin)


def _simulated(plan: Plan, variant: str, contract: str | None, folder: Path) -> JudgedRun:
    try:
        run = simulate(plan, parse_variant(variant), contract)
    except PlanError as error:
        raise click.ClickException(str(error)) from None
    store_history(folder, plan, run.history)
    return JudgedRun(run.history, check(run.history), run.digest, run.events, run.virtual_us)


def _contained(plan: Plan, options: dict[str, Any], system: System, folder: Path) -> JudgedRun:
    from tidemark.harness.evidence.run_error import RunError
    from tidemark.harness.live.progress import shown
    from tidemark.harness.systems.system import SystemRefusalError

    variant = variant_on(system, options["variant"])
    try:
        system.check(plan, variant)
    except SystemRefusalError as error:
        raise click.ClickException(str(error)) from None
    with containers(options, plan.cluster.brokers, system) as session:
        try:
            with shown(session):
                return session.execute(plan, variant, options["contract"], folder=folder)
        except RunError as error:
            raise RunBrokenOffError(str(error)) from None


def _tell_ci(verdict: Verdict, variant: str, folder: Path, options: dict[str, Any]) -> None:
    tell_ci(
        [case_of(verdict, f"tidemark run {variant}", folder.name)], options["junit"], annotations=options["annotations"]
    )


def _broken_off(why: str, variant: str, folder: Path, options: dict[str, Any]) -> int:
    """A run that was not carried out to its end proves nothing; what evidence there is stays in its folder."""
    verdict = Verdict("unknown", parse_variant(variant).contract, (), why, {})
    store_verdict(folder, verdict, "")
    _tell_ci(verdict, variant, folder, options)
    if options["as_json"]:
        click.echo(json.dumps({"variant": variant, "folder": str(folder), **verdict.to_json()}))
    else:
        Console().print(f"[bold yellow]unknown[/]: {escape(why)}\n  what evidence there is: {folder}", soft_wrap=True)
    return UNKNOWN


def plan_of(options: dict[str, Any]) -> Plan:
    """The plan that a command's options name: of a file, or a random one.

    Raises:
        click.ClickException: they contradict each other, or the file is no plan.
    """
    cluster = cluster_of(options)
    if options["plan_file"] is None:
        plan = generate_plan(options["seed"], options["index"], options["profile"], cluster)
        return with_workload(plan, options) if "rate" in options else plan
    context = click.get_current_context()
    if "rate" in options:
        refuse_beside_a_plan(options)
    for name in ("seed", "index", "profile", *CLUSTER_OPTIONS):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{option} cannot be given with --plan: the plan file says it (edit a copy of it)")
    try:
        return read_plan_or_kept(options["plan_file"])
    except PlanError as error:
        raise click.ClickException(str(error)) from None
