"""``tidemark soak``: random plans on every system under every profile, kept, resumed, published."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click
from rich.console import Console

from tidemark.cli import options as given
from tidemark.cli.cluster_options import ClusterOptions
from tidemark.cli.exits import INTERRUPTED, VALID
from tidemark.cli.extras import need
from tidemark.cli.output import output
from tidemark.cli.refused import refused
from tidemark.cli.system_option import system_called
from tidemark.cli.typed_options import Options, flag, group, option, shared, taking
from tidemark.cli.workload_options import WorkloadOptions, object_option
from tidemark.cli.world import clusters, clusters_option, containers
from tidemark.cli.writing_to import writing_file
from tidemark.harness.machines.errors import ContainerWorldError
from tidemark.harness.runs.kept_results import FolderInUseError, KeptResults
from tidemark.nemesis import Plan, PlanError

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from tidemark.harness.soak.kept_run import KeptRun
    from tidemark.harness.soak.planned import PlannedRun
    from tidemark.harness.soak.run_all import Runner, Watcher
    from tidemark.harness.systems.system import System

SYSTEMS = "kafka:2.8.2@0.10.2,kafka:2.8.2@0.11.0,kafka:2.8.2@2.0,kafka:2.8.2@2.8,kafka:3.9.2,kafka:4.3.1"
"""2.8.2 under the protocols that follow by the high watermark, by KIP-101, by KIP-279 and by truncation on fetch; and KRaft."""
PROFILES_OF_BROKERS = "destructive,controllers,machines"
OUT = given.RESULTS / "soak"

EPILOG = """\b
Examples:
  tidemark soak                                                    30 plans of three profiles on six systems: hours
  tidemark soak --systems kafka:4.1.1 --profiles destructive --plans 10
  tidemark soak --systems tidemark --profiles destructive --plans 5        our own nodes
  tidemark soak --systems kafka:4.3.1 --workload transactions --profiles from-clients --intensity 8 --duration 20 --rate 8
  tidemark soak --no-run                                           how it stands
  tidemark soak --no-run --judge-again                             after a checker has changed
  tidemark soak --out results/published/soak --page docs/results/soak.md

\b
The same command again goes on where it was ended, be it by Ctrl-C, kill or a reboot, which costs the runs under way; and the same
command in another terminal, meanwhile, shares the work with it. It measures, so it exits 0 when it is complete, whatever it found;
130 if it was ended, 254 if there are no machines."""

Runs = list[tuple["PlannedRun", "KeptRun"]]


class SoakOptions(Options):
    """What ``tidemark soak`` can be asked."""

    systems: str = option("What runs the plans.", default=SYSTEMS, metavar="SYSTEM,…")
    profiles: tuple[str, ...] = option("Faults to draw from.", type=given.ProfileNames(), default=PROFILES_OF_BROKERS)
    plans: int = option("Plans of each profile on each system.", type=given.POSITIVE, default=30)
    seed: int = option("Seed of the plans.", type=given.SEED, default=1)
    intensity: float = shared(given.intensity_option)
    workload: WorkloadOptions = group(WorkloadOptions)
    object_kind: str | None = shared(object_option)
    cluster: ClusterOptions = group(ClusterOptions)
    time_scale: float | None = option(
        "Multiply every time of a plan, for machines that are slow.  [default: 3 for Kafka]",
        type=given.RealRange(min=0.5, max=100),
    )
    jobs: int | None = shared(clusters_option)
    fresh: bool = flag("Start every node anew for each run; else nodes go on from a valid run, where they can.")
    keep_nodes: bool = flag("Keep the nodes' own files of every run, and not only where something was found.")
    out: Path = option(f"Folder of the runs.  [default: {OUT}]", type=given.FOLDER, default=OUT)
    page: Path | None = option("Write the table, as Markdown.", type=given.NEW_FILE)
    no_run: bool = flag("Run nothing; tell what there is and what is missing.")
    judge_again: bool = flag("Judge the histories that are kept with the checkers as they are now.")
    as_json: bool = shared(given.json_option)

    def as_asked(self, plan: Plan) -> Plan:
        """A plan with the clients that were asked for.

        Raises:
            PlanError: nobody can run it.
        """
        plan = self.workload.asked().of(plan)
        return plan if self.object_kind is None else plan.with_workload(self.object_kind)


@click.command("soak", epilog=EPILOG)
@taking(SoakOptions)
def soak_command(options: SoakOptions) -> int:
    """Run random plans on real brokers for hours, keep every run, and count what they came to."""
    need(containers=True)
    from tidemark.harness.soak.kept_run import kept_run
    from tidemark.harness.soak.planned import planned_runs
    from tidemark.harness.soak.show import sentence, show_soak
    from tidemark.harness.soak.tally import tally

    status = output(stderr=True)
    systems = _systems(options.systems)
    with refused(PlanError, usage=True):
        planned = planned_runs(
            systems,
            options.profiles,
            plans=options.plans,
            seed=options.seed,
            cluster=options.cluster.spec(),
            intensity=options.intensity,
            as_asked=options.as_asked,
            time_scale=options.time_scale,
        )
    results = KeptResults(given.writable_folder(options.out))
    runs: Runs = [(run, kept_run(run, results)) for run in planned]
    kept = [one for _, one in runs]
    interrupted = False
    if options.judge_again or not options.no_run:
        with refused(FolderInUseError, then="; choose another folder with --out"):
            if options.judge_again:
                with results.held(alone=True):
                    _judge_again(runs, results, status)
            if not options.no_run:
                with results.held(alone=False):
                    interrupted = not _run(runs, systems, results, status, options)
                for run, one in runs:
                    one.renewed(run, results)
    if options.page is not None:
        _write_page(options.page, kept, _typed(options))
        status.print(f"written: {options.page}", highlight=False, markup=False)
    if interrupted:
        words = f"{sentence(kept)}. Give the same command again to go on in {results.folder}."
        status.print(words, highlight=False, markup=False, soft_wrap=True)
        return INTERRUPTED
    if options.as_json:
        click.echo(json.dumps({"out": str(results.folder), "cells": [one.to_json() for one in tally(kept)]}, indent=1))
    else:
        show_soak(kept, output())
    return VALID


def _systems(text: str) -> dict[str, System]:
    names = given.words_in(text)
    if not names:
        raise click.UsageError("--systems names none")
    return {name: system_called(name) for name in names}


def _run(runs: Runs, systems: dict[str, System], results: KeptResults, status: Console, options: SoakOptions) -> bool:
    """Carry out what is missing; false if the person stopped it."""
    from tidemark.harness.soak.kept_run import MISSING
    from tidemark.harness.soak.run_all import run_missing
    from tidemark.harness.soak.show import SoakProgress, run_side_by_side

    brokers = max(run.plan.cluster.brokers for run, _ in runs)
    missing = [run.system for run, kept in runs if kept.valid == MISSING]
    jobs = min((clusters(options.jobs, systems[name], brokers, most=len(missing)) for name in {*missing}), default=1)
    progress = SoakProgress([one for _, one in runs], status)

    def run_all(watcher: Watcher, tell: Callable[[str], None] | None = None) -> None:
        run_missing(
            runs,
            results,
            lambda name: open_session(systems[name], brokers, tell, go_on=not options.fresh),
            lambda run: systems[run.system].variant(run.variant),
            watcher,
            keep_nodes=options.keep_nodes,
        )

    try:
        with refused(ContainerWorldError, then=f"; what was run is kept in {results.folder}"):
            if jobs > 1:
                run_side_by_side(jobs, run_all, runs, results, progress)
            else:
                with progress:
                    run_all(progress)
    except KeyboardInterrupt:
        return False
    return True


def _judge_again(runs: Runs, results: KeptResults, status: Console) -> None:
    from tidemark.harness.soak.judge_again import judge_again

    with status.status("judging again"):
        for run, kept, before in judge_again(runs, results):
            if kept.valid != before:
                words = f"{run.words}: {kept.valid} now, {before} before"
                status.print(words, highlight=False, markup=False, soft_wrap=True)


def open_session(
    system: System, brokers: int, tell: Callable[[str], None] | None = None, *, go_on: bool = False
) -> AbstractContextManager[Runner]:
    """Machines with a system, for as many plans as are run on them; gone at the end. `go_on`: so do their nodes, where they can."""
    return containers(brokers, system, tidy=True, tell=tell, go_on=go_on)


def _typed(options: SoakOptions) -> str:
    """The command as it was typed, without what only asks how it stands."""
    words = ["tidemark", "soak"]
    values = asdict(options) | asdict(options.cluster) | asdict(options.workload)
    for name, word in options.typed.items():
        if name not in ("no_run", "judge_again", "as_json", "jobs"):
            value = values[name]
            told = ",".join(value) if isinstance(value, tuple) else str(value)
            words += [word, *([] if value is True else [quote(told)])]
    return " ".join(words)


def _write_page(page: Path, kept: list[KeptRun], command: str) -> None:
    from tidemark.harness.soak.results_page import results_page

    with writing_file(page):
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(results_page(kept, command), encoding="utf-8")
