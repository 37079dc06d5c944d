"""``tidemark run``: one plan under one variant."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.markup import escape

from tidemark.checkers import Verdict, check
from tidemark.checkers.marks import exercised
from tidemark.cli.corpus import EVERY, OWN, keep, replay_corpus
from tidemark.cli.exits import UNKNOWN, exit_code
from tidemark.cli.extras import need
from tidemark.cli.for_ci import Case, CiOptions, case_of
from tidemark.cli.options import FOLDER, RESULTS, contract_option, json_option, variant_option, writable_folder
from tidemark.cli.output import output
from tidemark.cli.own_rules import rule_option
from tidemark.cli.plan_options import BESIDE_A_PLAN, PlanOptions
from tidemark.cli.refused import refused
from tidemark.cli.show import print_verdict
from tidemark.cli.spread import jobs_option
from tidemark.cli.system_option import variant_on
from tidemark.cli.typed_options import Options, flag, group, option, shared, taking
from tidemark.cli.workload_options import WorkloadOptions, object_option
from tidemark.cli.world import World, WorldOptions, containers
from tidemark.harness.evidence.run_error import RunError
from tidemark.harness.runs.folder import HISTORY, REPORT, store_history, store_verdict
from tidemark.harness.runs.judged import JudgedRun
from tidemark.harness.runs.shown_as import shown_as
from tidemark.harness.search.findings import recognised
from tidemark.harness.search.shrink.cause import causes_of
from tidemark.harness.search.shrink.choice import chosen
from tidemark.harness.simulator import simulate
from tidemark.harness.systems.system import SystemRefusalError
from tidemark.nemesis import Plan, PlanError
from tidemark.nodes.families import parse_variant

if TYPE_CHECKING:
    from tidemark.checkers import History
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
  tidemark run --system kafka:./kafka-4.4.0-SNAPSHOT       on one that you built: an unpacked release
  tidemark run --system nats:2.15.1 --index 3              on NATS JetStream
  tidemark run --system etcd:3.5.1 --workload list-append  on etcd: lists in transactions
  tidemark run --producers 4 --rate 50 --batch 10 --duration 10     busier clients, and longer
  tidemark run --junit report.xml --annotations        for a CI system
  tidemark run --corpus                                every plan that was ever kept: does it show what it showed?
"""


class RunBrokenOffError(Exception):
    """The run was not carried out to its end; the message says why."""


class RunOptions(Options):
    """What ``tidemark run`` can be asked."""

    variant: str = shared(variant_option)
    plan: PlanOptions = group(PlanOptions)
    contract: str | None = shared(contract_option)
    world: WorldOptions = group(WorldOptions)
    out: Path | None = option(
        "Folder.  [default: results/runs/VARIANT-SEED-INDEX, with -docker in containers]", type=FOLDER
    )
    report: bool = flag("Write report.html as well.")
    is_kept: bool = flag(f"Keep the plan in {OWN}: its violation, or that it must stay valid.", "--keep")
    corpus: Path | None = option(
        "Play all kept plans again instead, of a folder or file; without one all of results/corpus and "
        "results/published/corpus.",
        type=click.Path(path_type=Path),
        is_flag=False,
        flag_value=EVERY,
        metavar="[FOLDER]",
    )
    workload: WorkloadOptions = group(WorkloadOptions)
    object_kind: str | None = shared(object_option)
    jobs: int | None = shared(jobs_option)
    ci: CiOptions = group(CiOptions)
    as_json: bool = shared(json_option)


THIN = 0.25
"""Of a run on real servers in which a smaller share was acknowledged a person should not think that it showed much."""


@click.command("run", epilog=EPILOG)
@rule_option
@taking(RunOptions)
def run_command(options: RunOptions) -> int:
    """Carry out one run, check it, and store plan, history and verdict."""
    if options.corpus is not None:
        return _played_again(options.corpus, options)
    need(report=options.report)
    world = options.world.chosen()
    _refuse(options, world)
    (variant,) = world.variants((options.variant,), typed="variant" in options.typed)
    plan = options.plan.plan(options.workload)
    if options.object_kind is not None:
        if options.plan.plan_file is not None:
            raise click.UsageError(BESIDE_A_PLAN.format("--workload"))
        plan = plan.with_workload(options.object_kind)
    _refuse_library(options.world.clients, plan)
    with refused(PlanError, usage=True):
        plan = plan.scaled(options.world.time_scale_on(world.system))
    folder = writable_folder(options.out or _own_folder(f"{variant}-{options.plan.name(plan)}{world.suffix}", world))
    try:
        run = (
            _simulated(plan, variant, options.contract, folder)
            if world.is_simulated
            else _contained(plan, variant, options, world.system, folder)
        )
    except RunBrokenOffError as error:
        contract = world.system.variant(variant).contract
        return _broken_off(str(error), variant, contract, folder, options)
    verdict = run.verdict
    store_verdict(folder, verdict, run.digest)
    options.ci.tell([_case(verdict, variant, folder)])
    kept = _kept(plan, variant, run, options) if options.is_kept else None
    if options.report:
        from tidemark.harness.report.pages import render_run
        from tidemark.harness.why import why_of

        why = why_of(plan, variant, options.contract, run.history, verdict, again=world.is_simulated)
        render_run(plan.to_json(), run.history, verdict, folder / REPORT, why)
    marks = exercised(run.history.trace, run.history.meta)
    known = recognised(variant, verdict, run.history)
    if options.as_json:
        told = {"variant": variant, "folder": str(folder), "digest": run.digest, **verdict.to_json()}
        told["known"] = [one.to_json() for one in known]
        if options.is_kept:
            told["kept"] = None if kept is None else str(kept)
        click.echo(json.dumps(told | {"exercised": {name: mark.times for name, mark in marks.items()}}))
    else:
        console = output()
        left_out = sum(sentence.startswith("fault ") for sentence in run.history.meta.get("not_suffered", ()))
        faults = f"{len(plan.faults) - left_out} of {len(plan.faults)}" if left_out else f"{len(plan.faults)}"
        console.print(
            f"[bold]{shown_as(run.history.meta)}[/], plan {plan.index} of seed {plan.seed} ({plan.profile}): "
            f"{faults} faults, {run.events} events, {run.virtual_us / 1e6:.1f} s{_OF[world.name]}, digest {run.digest}"
        )
        print_verdict(verdict, run.history, console)
        if not world.is_simulated and verdict.valid != "invalid" and (thin := _thin(verdict, run.history)):
            console.print(f"  {thin}", soft_wrap=True, highlight=False)
        for one in known:
            console.print(f"  known: {escape(one.words)}", soft_wrap=True, highlight=False)
        for sentence in run.history.meta.get("not_suffered", ()):
            console.print(f"  left out of the plan: {sentence}", soft_wrap=True, highlight=False)
        if marks:
            console.print(f"  exercised: {', '.join(marks)}", soft_wrap=True, highlight=False)
        console.print(f"  {folder / HISTORY}" + (f", {folder / REPORT}" if options.report else ""))
        if options.is_kept:
            console.print(f"  kept: {kept or 'nothing new'}", soft_wrap=True)
    return exit_code([verdict.valid])


def _own_folder(name: str, world: World) -> Path:
    """Where results go if nobody says. What happened to real processes cannot be had again, and is not written over."""
    folder, number = RESULTS / "runs" / name, 1
    while not world.is_simulated and (folder / HISTORY).exists():
        number += 1
        folder = RESULTS / "runs" / f"{name}-{number}"
    return folder


def _thin(verdict: Verdict, history: History) -> str:
    """What to say of a run in which hardly anything was acknowledged; empty of any other."""
    share = verdict.stats.get("availability")
    if share is None or share >= THIN:
        return ""
    errors = Counter(op.error for op in history.ops if op.f == "send" and op.type in ("info", "fail") and op.error)
    often = f" Most often: {errors.most_common(1)[0][0]}" if errors else ""
    if not share:
        return f"nothing that was sent before healing was acknowledged: the client may be wrong.{often}"
    return (
        f"only {share:.0%} of what was sent before healing was acknowledged, so there was little to lose: with --time-scale 3 "
        f"faults are as much further apart, and the servers have the time to elect a leader.{often}"
    )


_OF = {"sim": " of virtual time", "docker": " in containers"}


def _played_again(folder: Path, options: RunOptions) -> int:
    """All plans of a corpus, of which each says by itself what is run."""
    for name, word in options.typed.items():
        if name not in ("corpus", "jobs", "as_json"):
            raise click.UsageError(f"{word} cannot be given with --corpus: each kept plan says what is run")
    return replay_corpus(folder, options.jobs, as_json=options.as_json)


def _refuse(options: RunOptions, world: World) -> None:
    if options.jobs is not None:
        raise click.UsageError("--jobs is for --corpus: one run is one process")
    if options.is_kept and not world.is_simulated:
        raise click.UsageError("--keep is for the simulator, in which kept plans are played again")


def _refuse_library(clients: str, plan: Plan) -> None:
    if clients == "java" and not plan.workload.transactional:
        raise click.UsageError("--clients java is for --workload transactions")
    if clients == "aiokafka" and plan.workload.transactional:
        raise click.UsageError("--clients aiokafka sends no transactions here: leave it away, or take java")


def _kept(plan: Plan, variant: str, run: JudgedRun, options: RunOptions) -> Path | None:
    found = chosen(run.verdict)
    if found is None and run.verdict.valid != "valid":
        raise click.ClickException("what is unknown is not kept")
    shown = None if found is None else (causes_of(found, run.verdict, run.history)[0], found.message)
    origin = f"{'tidemark run of ' if options.plan.plan_file else ''}{options.plan.origin(plan)}"
    return keep(OWN, plan, variant, options.contract, shown, origin)


def _simulated(plan: Plan, variant: str, contract: str | None, folder: Path) -> JudgedRun:
    with refused(PlanError):
        run = simulate(plan, parse_variant(variant), contract)
    store_history(folder, plan, run.history)
    return JudgedRun(run.history, check(run.history), run.digest, run.events, run.virtual_us)


def _contained(plan: Plan, name: str, options: RunOptions, system: System, folder: Path) -> JudgedRun:
    from tidemark.harness.live.progress import shown

    variant = variant_on(system, name)
    with refused(SystemRefusalError):
        system.check(plan, variant)
    asked = options.world
    with containers(plan.cluster.brokers, system, hosts=asked.hosts, clients=asked.clients) as session:
        try:
            with shown(session):
                return session.execute(plan, variant, options.contract, folder=folder)
        except RunError as error:
            raise RunBrokenOffError(str(error)) from None


def _case(verdict: Verdict, variant: str, folder: Path) -> Case:
    return case_of(verdict, f"tidemark run {variant}", folder.name)


def _broken_off(why: str, variant: str, contract: str, folder: Path, options: RunOptions) -> int:
    """A run that was not carried out to its end proves nothing; what evidence there is stays in its folder."""
    verdict = Verdict("unknown", contract, (), why, {})
    store_verdict(folder, verdict, "")
    options.ci.tell([_case(verdict, variant, folder)])
    if options.as_json:
        click.echo(json.dumps({"variant": variant, "folder": str(folder), **verdict.to_json()}))
    else:
        output().print(f"[bold yellow]unknown[/]: {escape(why)}\n  what evidence there is: {folder}", soft_wrap=True)
    return UNKNOWN
