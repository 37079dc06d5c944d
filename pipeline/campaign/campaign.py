"""Run a campaign: spread its chunks over Spark, show how it goes, and leave a folder that can go on at any moment.

The folder is the only state. A chunk is finished if its record is there and its files are what the record says; whatever else a
stopped campaign left behind is written again.
"""

from __future__ import annotations

import importlib
import os
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rich.console import Console

from tidemark.pipeline.campaign.in_turn import run_in_turn
from tidemark.pipeline.campaign.outcome import CampaignFailedError, CampaignOutcome
from tidemark.pipeline.campaign.progress import CampaignProgress
from tidemark.pipeline.chunks.chunk import Task
from tidemark.pipeline.engines.java import JavaNotFoundError
from tidemark.pipeline.engines.process_pool import run_on_pool
from tidemark.pipeline.engines.reason import is_full_disk, reason
from tidemark.pipeline.engines.spark_or_not import does_without_spark
from tidemark.pipeline.engines.workers import WorkersUnfitError
from tidemark.pipeline.folder.finished_chunks import Stock, set_right, take_stock
from tidemark.pipeline.folder.manifest import CampaignRefusedError, Manifest, locked, open_campaign
from tidemark.pipeline.folder.record import ChunkSummary
from tidemark.pipeline.folder.tables import record_file
from tidemark.pipeline.runs.guard import RunLimits
from tidemark.pipeline.store.store_place import StoreError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidemark.pipeline.chunks.chunk import FinishedChunk
    from tidemark.pipeline.chunks.contained import Contained
    from tidemark.pipeline.runs.campaign_spec import CampaignSpec
    from tidemark.pipeline.runs.simulate import Simulate
    from tidemark.pipeline.store.stored_campaign import StoredCampaign

__all__ = ["CampaignFailedError", "CampaignOutcome", "CampaignRefusedError", "Manifest", "run_campaign"]

POLL_SECONDS = 0.25
ROUNDS = 2
"""What is missing after Spark has said that all is done is done once more: an update of an accumulator that fails is lost, and
Spark tells its log alone."""
LAST_WORDS_SECONDS = 30
CLUSTER_CORES = 16
"""Of a cluster that nobody has asked yet."""


def run_campaign(  # noqa: PLR0913  each argument is one independent choice of the person at the command line
    spec: CampaignSpec,
    folder: Path,
    *,
    master: str | None = None,
    chunk_size: int | None = None,
    fresh: bool = False,
    retry_errors: bool = False,
    stop_at_first: bool = False,
    limits: RunLimits | None = None,
    console: Console | None = None,
    simulate: Simulate | None = None,
    contained: Contained | None = None,
    stored: StoredCampaign | None = None,
    spark: bool = True,
) -> CampaignOutcome:
    """Run the missing chunks of a campaign and wait for them; Ctrl-C ends it early with what is finished.

    Args:
        spec: What to run. If the folder holds the same campaign with fewer plans or variants, it grows.
        folder: The campaign's folder, on this machine; workers of a cluster need not see it.
        master: Spark's master URL, `None` for this machine's cores.
        chunk_size: Plans per chunk, see `open_campaign`.
        fresh: Throw away an earlier campaign in the folder, or move it aside, see `open_campaign`.
        retry_errors: Do the chunks again that have a run that raised.
        stop_at_first: End as soon as a finished chunk has a violation, be it one of an earlier attempt.
        limits: What one run may take.
        console: Where the progress is shown, standard error unless told.
        simulate: How to run one plan; the simulator unless told.
        contained: Runs plans in containers instead, one after the other, without Spark.
        spark: Whether many runs are spread with Spark; without it all are carried out by a pool of processes.
        stored: Where the campaign is kept, if the folder is only its working copy; not for plans in containers.

    Raises:
        CampaignRefusedError: The folder holds another campaign, or another process works on it.
        CampaignFailedError: Spark gave up.
        JavaNotFoundError: There is no Java for Spark.
        StoreError: The store cannot be used, or another driver works on the campaign in it.
    """
    run = contained or simulate or simulator()
    limits = limits or RunLimits()
    console = console or Console(stderr=True)
    folder = folder.resolve()
    with locked(folder), stored.driving(folder) if stored else nullcontext():
        if stored is not None:
            stored.begin(folder, fresh=fresh)
        earlier = None if fresh else Manifest.read(folder)
        first = earlier.spec.plans if earlier else 0

        def measured() -> int:
            from tidemark.pipeline.chunks.chunk_size import measured_chunk_size

            return measured_chunk_size(spec, first, run, cores_of(master), limits)

        manifest = open_campaign(folder, spec, chunk_size=chunk_size, fresh=fresh, measured=measured)
        spec = manifest.spec
        if stored is not None:
            stored.keep_manifest(manifest)
        stock = _settled(folder, manifest, stored, console)
        _tell(stock, console)
        if retry_errors:
            stock = _without_errors(folder, spec, stock, stored)
        task = Task(spec, folder, manifest.identity, run, limits)
        complete = True
        for _ in range(ROUNDS):
            numbers = _missing(manifest, stock)
            if not numbers or not complete or (stop_at_first and _has_violation(stock.finished.values())):
                break
            work = _Work(task, manifest, numbers, list(stock.finished.values()), console, stop_at_first)
            if contained is not None:
                complete = _in_containers(work, contained)
            else:
                keep = partial(stored.keep, campaign=spec.name) if stored else None
                complete = _work_off(work, master, keep) if spark else _work_off_here(work, keep)
            stock = _settled(folder, manifest, stored, console)
    lost = len(_missing(manifest, stock))
    if complete and lost and stop_at_first and _has_violation(stock.finished.values()):
        return CampaignOutcome.of("stopped", spec, folder, stock.finished.values())
    if complete and lost:
        raise CampaignFailedError(
            f"{lost} of {manifest.layout.tasks} chunks were reported as finished and are not in {folder}: "
            "nothing else may write there; give the same command again to go on."
        )
    return CampaignOutcome.of("finished" if complete else "interrupted", spec, folder, stock.finished.values())


def _settled(folder: Path, manifest: Manifest, stored: StoredCampaign | None, console: Console) -> Stock:
    """What is finished, in the folder and in the store alike; what is not as it should be counts as missing from now on."""
    stock = take_stock(folder, manifest)
    set_right(folder, manifest, stock)
    if stored is None:
        return stock
    from tidemark.pipeline.store.store_exchange import exchange

    found = exchange(stored, folder, manifest, stock)
    if found.fetched:
        console.print(
            f"Finished chunks fetched from {stored.place.uri}: {len(found.fetched)}.", highlight=False, markup=False
        )
    finished = stock.finished | found.fetched
    damaged = {(one.variant, one.number): one for one in (*found.damaged, *stock.damaged)}
    return Stock(finished, tuple(one for place, one in damaged.items() if place not in finished), stock.foreign)


def cores_of(master: str | None) -> int:
    """Among how many cores the work will be spread, as far as the master's address says so."""
    if master is None or master == "local[*]":
        return os.cpu_count() or 1
    if master == "local":
        return 1
    local = re.match(r"local\[(\d+|\*)", master)
    return CLUSTER_CORES if local is None else (os.cpu_count() or 1) if local[1] == "*" else int(local[1])


def _missing(manifest: Manifest, stock: Stock) -> list[int]:
    """The tasks whose chunks are not finished."""
    layout = manifest.layout
    variants = len(layout.variants)
    return [
        number * variants + which
        for number in range(layout.chunks)
        for which, variant in enumerate(layout.variants)
        if (variant, number) not in stock.finished
    ]


def _has_violation(chunks: Iterable[ChunkSummary]) -> bool:
    return any(chunk.violating for chunk in chunks)


def _tell(stock: Stock, console: Console) -> None:
    """What is wrong with what an earlier attempt left."""
    for damage in stock.damaged:
        console.print(f"{damage.words()}: damaged, will be redone.", highlight=False, markup=False)
    for path in stock.foreign:
        console.print(f"{path} is no file of this campaign, and was set aside.", highlight=False, markup=False)


def _without_errors(folder: Path, spec: CampaignSpec, stock: Stock, stored: StoredCampaign | None) -> Stock:
    """The stock without the chunks that have a run that raised; their records are gone."""
    again = [place for place, chunk in stock.finished.items() if chunk.errors]
    if stored is not None:
        stored.forget(again, spec.name)
    for variant, number in again:
        record_file(folder, spec.name, variant, number).unlink(missing_ok=True)
    left = {place: chunk for place, chunk in stock.finished.items() if not chunk.errors}
    return Stock(left, stock.damaged, stock.foreign)


class _Work(NamedTuple):
    """What is to be done: which chunks, behind which that are finished; and whether the first violation ends it."""

    task: Task
    manifest: Manifest
    numbers: Sequence[int]
    before: Sequence[ChunkSummary]
    console: Console
    stop_at_first: bool

    def progress(self) -> CampaignProgress:
        """The bars for it."""
        return CampaignProgress(self.manifest.spec, self.console, self.before)

    def is_enough(self, told: Iterable[ChunkSummary]) -> bool:
        """Whether a violation ends it."""
        return self.stop_at_first and _has_violation(told)


def _work_off(work: _Work, master: str | None, keep: Callable[[FinishedChunk], object] | None) -> bool:
    """Run the chunks with a progress bar, or as many as it takes to a violation; false if the person stopped it.

    Spark is started and used by a thread of its own: in the main thread Ctrl-C would strike in the middle of its protocol.
    """
    task, manifest, numbers, console = work.task, work.manifest, work.numbers, work.console
    if does_without_spark(master, _runs(manifest, numbers)):
        return _work_off_here(work, keep)
    failure: list[Exception] = []
    enough = threading.Event()
    sessions: list[SparkSession] = []
    told: list[ChunkSummary] = []

    def job() -> None:
        try:
            from tidemark.pipeline.engines.job import run_job
            from tidemark.pipeline.engines.session import QUICK_START, spark_session
            from tidemark.pipeline.engines.spark_tables import QUICK_START_RUNS
            from tidemark.pipeline.engines.workers import check_workers

            few = manifest.layout.plans * len(manifest.spec.variants) <= QUICK_START_RUNS
            sessions.append(spark_session(master, java_options=QUICK_START if few else "", make_archive=True))
            context = sessions[0].sparkContext
            check_workers(context, lambda sentence: console.print(sentence, highlight=False, markup=False))
            if not enough.is_set():
                run_job(context, task, manifest.layout, numbers, told, keep)
        except Exception as error:  # noqa: BLE001  handed to the thread that waits
            failure.append(error)

    def stop() -> None:
        enough.set()
        for spark in sessions:
            spark.sparkContext.cancelAllJobs()
            spark.stop()
            thread.join(LAST_WORDS_SECONDS)  # what has come in is being stored

    thread = threading.Thread(target=job, name="campaign", daemon=True)
    with work.progress() as progress:
        try:
            thread.start()
            # Most likely next, and Spark takes its time to start.
            importlib.import_module("tidemark.pipeline.compare.compare")
            while thread.is_alive():
                thread.join(POLL_SECONDS)
                progress.show(told)
                if work.is_enough(told):
                    stop()
                    return True
        except KeyboardInterrupt:
            console.print("Stopping; finished chunks are kept.")
            stop()
            return False
    if failure and isinstance(failure[0], JavaNotFoundError | ModuleNotFoundError):
        raise failure[0]
    if failure and isinstance(failure[0], WorkersUnfitError):
        raise CampaignFailedError(str(failure[0])) from failure[0]
    if failure:
        raise CampaignFailedError(_why(failure[0], task.folder)) from failure[0]
    return True


def _runs(manifest: Manifest, numbers: Sequence[int]) -> int:
    """How many runs these chunks have."""
    chunks = [manifest.layout.task(number) for number in numbers]
    return sum(chunk.stop - chunk.first for chunk in chunks)


def _work_off_here(work: _Work, keep: Callable[[FinishedChunk], object] | None) -> bool:
    """Run the chunks without Spark, as `_work_off` does with it."""
    told: list[ChunkSummary] = []
    with work.progress() as progress:

        def go_on() -> bool:
            progress.show(told)
            return not work.is_enough(told)

        try:
            run_on_pool(work.task, work.manifest.layout, work.numbers, told, go_on, keep)
        except KeyboardInterrupt:
            work.console.print("Stopping; finished chunks are kept.")
            return False
        except OSError as error:
            raise CampaignFailedError(_why(error, work.task.folder)) from error
        progress.show(told)
    return True


def _why(error: Exception, folder: Path) -> str:
    if isinstance(error, StoreError):
        return f"{error} What is finished is kept here: give the same command again to go on."
    if is_full_disk(error):
        return (
            f"The disk is full ({reason(error)}); what is finished is kept: make room, and give the same command again to go "
            f"on in {folder}."
        )
    if isinstance(error, OSError):
        return f"{folder} cannot be written: {reason(error)}; the same command goes on when it can."
    return f"Spark gave up: {reason(error)}"


def _in_containers(work: _Work, contained: Contained) -> bool:
    """Run the chunks with a progress bar, or as many as it takes to a violation; false if the person stopped it."""
    layout, now_running = work.manifest.layout, contained.now_running
    with work.progress() as progress:
        try:
            run_in_turn(work.task, layout, work.numbers, progress, now_running, stop_at_first=work.stop_at_first)
        except KeyboardInterrupt:
            work.console.print("Stopping; finished runs are kept.")
            return False
        except OSError as error:
            if is_full_disk(error):
                raise CampaignFailedError(_why(error, work.task.folder)) from error
            raise
    return True


def simulator() -> Simulate:
    """Our own; importing it loads all of it."""
    from tidemark.pipeline.runs.simulate import simulate

    return simulate
