"""Carries out the runs that are missing, one after the other, or several side by side. Plan, history and verdict are on the disk
before a result says so.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Protocol

from tidemark.harness.machines.errors import ClusterError, ContainerWorldError, EngineError, ImageError
from tidemark.harness.runs.code_version import commit_of_code
from tidemark.harness.runs.folder import store_plan, store_verdict
from tidemark.harness.runs.judged import JudgedRun
from tidemark.harness.runs.kept_results import KeptResults
from tidemark.harness.soak.kept_run import MISSING, RESULT, VALID, KeptRun
from tidemark.harness.soak.planned import PlannedRun
from tidemark.nemesis import Plan
from tidemark.nodes.families import AnyVariant

NODES = "nodes"
"""In a run's folder: the nodes' files, some MB."""
NO_MACHINES = (EngineError, ImageError, ClusterError)
"""No run can be had any more, whatever its plan."""


class Runner(Protocol):
    """Carries out plans on a system (:class:`tidemark.harness.live.session.ContainerSession`)."""

    def open(self) -> object:
        """Bring the machines up, unless they are.

        Raises:
            ContainerWorldError: they are not to be had.
        """

    def execute(self, plan: Plan, variant: AnyVariant, contract: str | None = None, *, folder: Path) -> JudgedRun:
        """Run a plan and judge it; plan and history are in the folder then.

        Raises:
            ContainerWorldError: the run could not be carried out as planned.
        """


class Watcher(Protocol):
    """Is told how it goes."""

    def begins(self, run: PlannedRun, runner: Runner) -> None:
        """A run begins."""

    def came_out(self, run: PlannedRun, kept: KeptRun) -> None:
        """A run is over."""


def run_missing(
    runs: Sequence[tuple[PlannedRun, KeptRun]],
    results: KeptResults,
    open_runner: Callable[[str], AbstractContextManager[Runner]],
    variant_of: Callable[[PlannedRun], AnyVariant],
    watcher: Watcher,
    *,
    keep_nodes: bool = False,
) -> None:
    """Carry out every run that has no result. One that breaks off is unknown, with the reason, as is one that we fail to judge. One
    that another process is carrying out is passed over.

    Args:
        runs: with what is kept of each, which is brought up to date.
        results: where they are kept.
        open_runner: brings up what runs plans on a system, and takes it away in the end; called when there is something to run.
        variant_of: the protocol that a run is under, as its system has it.
        watcher: is told how it goes.
        keep_nodes: keep the nodes' files of runs without an anomaly, too.

    Raises:
        ContainerWorldError: there are no machines to be had. What was run is kept.
    """
    commit = commit_of_code()
    missing = [(run, kept) for run, kept in runs if kept.valid == MISSING]
    for system, group in groupby(missing, key=lambda one: one[0].system):
        with ExitStack() as machines:
            runner: Runner | None = None
            for run, kept in group:
                with results.claimed(run.name) as ours:
                    if not ours or kept.renewed(run, results).valid != MISSING:
                        continue
                    runner = runner or machines.enter_context(open_runner(system))
                    watcher.begins(run, runner)
                    _carry_out(run, kept, results, runner, variant_of(run), commit=commit)
                    _keep(run, kept, results, nodes=keep_nodes or kept.valid != VALID)
                    watcher.came_out(run, kept)


def _carry_out(
    run: PlannedRun, kept: KeptRun, results: KeptResults, runner: Runner, variant: AnyVariant, *, commit: str
) -> None:
    folder = results.folder / run.name
    shutil.rmtree(folder, ignore_errors=True)  # what a killed command left of it
    runner.open()
    began = time.monotonic()
    try:
        judged = runner.execute(run.plan, variant, folder=folder)
        store_verdict(folder, judged.verdict, judged.digest)
        kept.judged(judged.history, judged.verdict)
    except NO_MACHINES:
        raise
    except ContainerWorldError as error:
        kept.broke_off(str(error))
    except Exception as error:  # noqa: BLE001 - one run that we fail to judge must not keep all others from their turn
        kept.broke_off(f"Tidemark failed: {type(error).__name__}: {error}")
    kept.seconds = round(time.monotonic() - began, 1)
    kept.played = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    kept.commit = commit


def _keep(run: PlannedRun, kept: KeptRun, results: KeptResults, *, nodes: bool) -> None:
    folder = results.folder / run.name
    if not folder.exists():
        store_plan(folder, run.plan)
    if not nodes:
        shutil.rmtree(folder / NODES, ignore_errors=True)
    for path in folder.iterdir():
        _sync(path)
    results.write(f"{run.name}/{RESULT}", kept.to_json())


def _sync(path: Path) -> None:
    if path.is_file():
        with path.open("rb") as file:
            os.fsync(file.fileno())
