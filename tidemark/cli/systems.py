"""``tidemark systems``: the same troubles on several systems side by side, kept, resumed, published."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click
from rich.console import Console

from tidemark.cli import options as given
from tidemark.cli.exits import INTERRUPTED, VALID
from tidemark.cli.extras import need
from tidemark.cli.output import output
from tidemark.cli.refused import refused
from tidemark.cli.soak import open_session
from tidemark.cli.typed_options import Options, flag, option, shared, taking
from tidemark.cli.writing_to import writing_file
from tidemark.harness.machines.errors import ContainerWorldError
from tidemark.harness.runs.kept_results import FolderInUseError, KeptResults
from tidemark.harness.survey.entrants import USUAL
from tidemark.harness.survey.troubles import NODES, TROUBLES
from tidemark.harness.systems.system import SystemRefusalError
from tidemark.nodes.core.variant import VariantError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tidemark.harness.soak.run_all import Runner
    from tidemark.harness.survey.cells import Cell, Run
    from tidemark.harness.survey.entrants import Entrant
    from tidemark.harness.systems.system import System

OUT = given.RESULTS / "systems"
RUNS = "-runs"
"""Behind the name of the page: that of the page beside it."""

EPILOG = """\b
Examples:
  tidemark systems                                          5 plans of six troubles on eight systems: two and a half hours
  tidemark systems --systems nats:2.15.1,nats:2.15.1@sync-always --troubles power-one,power-all --plans 10
  tidemark systems --systems kafka:4.3.1+log.flush.interval.messages=1 --troubles power-all    with a setting of its brokers
  tidemark systems --systems tidemark:raft,./my_system.py   our own nodes under a variant, and a system of yours
  tidemark systems --no-run                                 how it stands
  tidemark systems --out results/published/real-systems --page docs/real-systems.md --reports

\b
Each run is kept when it is over, and the same command again goes on where it was ended. It measures, so it exits 0 when it is
complete, whatever it found; 130 if it was ended, 254 if something cannot be had."""


class SystemsOptions(Options):
    """What ``tidemark systems`` can be asked."""

    systems: str = option(
        "What is tried: NAME, kafka:VERSION+KEY=VALUE, tidemark:VARIANT.  [default: Kafka, NATS, etcd, Fluss, and our own nodes]",
        default=",".join(USUAL),
        metavar="SYSTEM,…",
    )
    troubles: tuple[str, ...] = option(
        "What befalls them.", type=given.Several("trouble", tuple(TROUBLES), sort=True), default=",".join(TROUBLES)
    )
    plans: int = option("Plans of each trouble; every system meets the same.", type=given.POSITIVE, default=5)
    seed: int = option("Seed of the plans.", type=given.SEED, default=1)
    time_scale: float | None = option(
        "Multiply every time of a plan.  [default: by what each system needs; 3 for Kafka]",
        type=given.RealRange(min=0.5, max=100),
    )
    out: Path = option(f"Folder of the runs.  [default: {OUT}]", type=given.FOLDER, default=OUT)
    page: Path | None = option(
        "Write the tables, as Markdown, and beside them a page with a run of each cell.", type=given.NEW_FILE
    )
    reports: bool = flag("Draw the run that is told of each cell in which something was lost.")
    no_run: bool = flag("Run nothing; tell what there is and what is missing.")
    as_json: bool = shared(given.json_option)


@click.command("systems", epilog=EPILOG)
@taking(SystemsOptions)
def systems_command(options: SystemsOptions) -> int:
    """Put real systems side by side: the same kills, cuts and power losses, and what each lost."""
    need(containers=not options.no_run, report=options.reports)
    from tidemark.harness.survey.cells import cells, stored
    from tidemark.harness.survey.planned import planned_runs
    from tidemark.harness.survey.show import show_survey
    from tidemark.pipeline.compare.statistics import wilson

    status = output(stderr=True)
    entrants = _entrants(options.systems)
    planned = planned_runs(
        entrants, options.troubles, plans=options.plans, seed=options.seed, time_scale=options.time_scale
    )
    results = KeptResults(given.writable_folder(options.out))
    interrupted = False
    if not options.no_run:
        with refused(FolderInUseError, then="; choose another folder with --out"), results.held(alone=False):
            interrupted = not _run(stored(planned, results), entrants, results, status)
    runs = stored(planned, results)
    found = cells(runs, wilson)
    if options.reports:
        _draw(found, results.folder)
    if options.page is not None:
        _write(options.page, entrants, found, runs, results.folder, options)
        status.print(f"written: {options.page}", highlight=False, markup=False, soft_wrap=True)
    if interrupted:
        words = f"Give the same command again to go on in {results.folder}."
        status.print(words, highlight=False, markup=False, soft_wrap=True)
        return INTERRUPTED
    if options.as_json:
        click.echo(json.dumps({"out": str(results.folder), "cells": [one.to_json() for one in found]}, indent=1))
    else:
        show_survey(found, output())
    return VALID


def _entrants(text: str) -> list[Entrant]:
    from tidemark.harness.survey.entrants import entrant

    names = given.words_in(text)
    if not names:
        raise click.UsageError("--systems names none")
    with refused(SystemRefusalError, VariantError, usage=True):
        return [entrant(name, _found) for name in names]


def _found(name: str, settings: Mapping[str, str]) -> System:
    from tidemark.harness.systems.registry import find_system

    return find_system(name, dict(settings))


def _run(runs: Sequence[Run], entrants: Sequence[Entrant], results: KeptResults, status: Console) -> bool:
    """Carry out what is missing; false if the person stopped it."""
    from tidemark.harness.soak.run_all import run_missing
    from tidemark.harness.soak.show import SoakProgress
    from tidemark.harness.survey.counted import Counting

    of = {one.name: one for one in entrants}
    progress = SoakProgress([run.kept for run in runs], status)

    @contextmanager
    def open_runner(name: str) -> Iterator[Runner]:
        with open_session(of[name].system, NODES, None) as session:
            yield Counting(session)

    try:
        with refused(ContainerWorldError, then=f"; what was run is kept in {results.folder}"), progress:
            pairs = [(run.planned, run.kept) for run in runs]
            run_missing(pairs, results, open_runner, lambda run: of[run.system].protocol(), progress)
    except KeyboardInterrupt:
        return False
    return True


def _draw(found: Sequence[Cell], folder: Path) -> None:
    """The report of each story in which something was lost, unless it is there or its history is not."""
    from tidemark.harness.report.pages import render_run
    from tidemark.harness.runs.folder import HISTORY, REPORT, load_history

    for cell in found:
        if cell.told is not None and cell.lost:
            place = folder / cell.told.planned.name
            if (place / HISTORY).exists() and not (place / REPORT).exists():
                from tidemark.checkers import check

                history = load_history(place)
                render_run(cell.told.planned.plan.to_json(), history, check(history), place / REPORT)


def _write(
    page: Path,
    entrants: Sequence[Entrant],
    found: Sequence[Cell],
    runs: Sequence[Run],
    folder: Path,
    options: SystemsOptions,
) -> None:
    from tidemark.harness.survey.page import survey_page
    from tidemark.harness.survey.stories import stories_page

    beside = page.with_name(f"{page.stem}{RUNS}{page.suffix}")
    below = Path(os.path.relpath(folder, page.parent)).as_posix()
    with writing_file(page):
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(survey_page(entrants, found, runs, _typed(options), beside.name), encoding="utf-8")
        beside.write_text(stories_page(entrants, found, folder, below, page.name), encoding="utf-8")


def _typed(options: SystemsOptions) -> str:
    """The command as it was typed, without what only asks how it stands."""
    words, values = ["tidemark", "systems"], asdict(options)
    for name, word in options.typed.items():
        if name not in ("no_run", "as_json"):
            value = values[name]
            told = ",".join(value) if isinstance(value, tuple) else str(value)
            words += [word, *([] if value is True else [quote(told)])]
    return " ".join(words)
