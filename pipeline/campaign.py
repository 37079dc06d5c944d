"""Run a campaign: spread its chunks over Spark, show how it goes, and leave a folder that can be resumed at any moment.

The tables on disk are the only state. A chunk whose `runs` file exists is finished; whatever else a stopped campaign left
behind is written again.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rich.console import Console

from pipeline.chunk import Chunk, ChunkSummary, Finished, chunks_of, finished, run_chunk
from pipeline.in_turn import run_in_turn
from pipeline.java import JavaNotFoundError
from pipeline.manifest import CampaignRefusedError, Manifest, locked, open_campaign
from pipeline.progress import CampaignProgress
from pipeline.session import spark_session

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from pipeline.campaign_spec import CampaignSpec
    from pipeline.contained import Contained
    from pipeline.simulate import Simulate

__all__ = ["CampaignFailedError", "CampaignOutcome", "CampaignRefusedError", "Manifest", "run_campaign"]

POLL_SECONDS = 0.25


class CampaignFailedError(RuntimeError):
    """Spark gave up on a chunk; what was finished is kept. The text is one sentence."""


@dataclass(frozen=True, slots=True)
class CampaignOutcome:
    """How a campaign ended. All numbers count runs, those of earlier attempts included."""

    status: Literal["finished", "interrupted"]
    runs: int
    expected: int
    violating: dict[str, int]  # by variant
    unknown: int  # errors included
    errors: int
    folder: Path = field(compare=False)

    def sentences(self) -> str:
        """The outcome in words, with how to go on if it was interrupted."""
        found = ", ".join(f"{variant} {runs}" for variant, runs in self.violating.items())
        words = f"{self.runs} of {self.expected} runs are done. Runs with a violation: {found}."
        if self.unknown:
            raised = f", {self.errors} of them because the run raised (column `error` of `runs`)" if self.errors else ""
            words += f" {self.unknown} ended unknown{raised}."
        if self.status == "interrupted":
            words += f" Give the same command again to go on in {self.folder}."
        return words


def run_campaign(  # each argument is one independent choice of the person at the command line
    spec: CampaignSpec,
    folder: Path,
    *,
    master: str | None = None,
    chunk_size: int | None = None,
    fresh: bool = False,
    console: Console | None = None,
    simulate: Simulate | None = None,
    contained: Contained | None = None,
) -> CampaignOutcome:
    """Run the missing chunks of a campaign and wait for them; Ctrl-C ends it early with what is finished.

    Args:
        spec: What to run.
        folder: The campaign's folder; on a cluster it must be the same path for every worker.
        master: Spark's master URL, `None` for this machine's cores.
        chunk_size: Plans per chunk, see `open_campaign`.
        fresh: Throw away an earlier campaign in the folder.
        console: Where the progress is shown, standard error unless told.
        simulate: How to run one plan; the simulator unless told.
        contained: Runs plans in containers instead, one after the other, without Spark.

    Raises:
        CampaignRefusedError: The folder holds another campaign, or another process works on it.
        CampaignFailedError: Spark gave up.
        JavaNotFoundError: There is no Java for Spark.
    """
    simulate = simulate or simulator()
    console = console or Console(stderr=True)
    folder = folder.resolve()
    with locked(folder):
        manifest = open_campaign(folder, spec, chunk_size=chunk_size, fresh=fresh)
        done = finished(folder, spec.name, spec.variants)
        missing = [c for c in chunks_of(spec, manifest.chunk_size) if (c.variant, c.number) not in done]
        if not missing:
            complete = True
        elif contained is not None:
            complete = _in_containers(spec, missing, folder, console, contained)
        else:
            complete = _work_off(spec, missing, folder, master, console, simulate)
        done = finished(folder, spec.name, spec.variants)
    return _outcome("finished" if complete else "interrupted", spec, folder, list(done.values()))


def chunk_job(spark: SparkSession, spec: CampaignSpec, chunks: list[Chunk], folder: Path, simulate: Simulate) -> None:
    """Run the chunks as one Spark job, one task each, in the given order; blocks until all have ended."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa  # runs in a worker

        for batch in batches:
            for number in batch.column(0).to_pylist():
                summary = run_chunk(spec, chunks[number], folder, simulate)
                yield pa.RecordBatch.from_pydict({"runs": [summary.runs]}, schema=pa.schema([("runs", pa.int64())]))

    spark.range(0, len(chunks), 1, len(chunks)).mapInArrow(work, "runs long").collect()


def _work_off(
    spec: CampaignSpec, chunks: list[Chunk], folder: Path, master: str | None, console: Console, simulate: Simulate
) -> bool:
    """Run the chunks with a progress bar; false if the person stopped it.

    Spark is started and used by a thread of its own: in the main thread Ctrl-C would strike in the middle of its protocol.
    """
    failure: list[Exception] = []
    sessions: list[SparkSession] = []

    def job() -> None:
        try:
            sessions.append(spark_session(master))
            chunk_job(sessions[0], spec, chunks, folder, simulate)
        except Exception as error:  # noqa: BLE001  handed to the thread that waits
            failure.append(error)

    done: Finished = {}
    thread = threading.Thread(target=job, name="campaign", daemon=True)
    with CampaignProgress(spec, console) as progress:
        try:
            thread.start()
            while thread.is_alive():
                thread.join(POLL_SECONDS)
                done = finished(folder, spec.name, spec.variants, done)
                progress.show(done.values())
        except KeyboardInterrupt:
            console.print("Stopping; finished chunks are kept.")
            for spark in sessions:
                spark.sparkContext.cancelAllJobs()
                spark.stop()
            progress.show(finished(folder, spec.name, spec.variants, done).values())
            return False
    if failure and isinstance(failure[0], JavaNotFoundError):
        raise failure[0]
    if failure:
        raise CampaignFailedError(f"Spark gave up: {str(failure[0]).strip().splitlines()[0]}") from failure[0]
    return True


def _in_containers(
    spec: CampaignSpec, chunks: list[Chunk], folder: Path, console: Console, contained: Contained
) -> bool:
    """Run the chunks with a progress bar; false if the person stopped it."""
    with CampaignProgress(spec, console) as progress:
        try:
            run_in_turn(spec, chunks, folder, contained, progress, contained.now_running)
        except KeyboardInterrupt:
            console.print("Stopping; finished runs are kept.")
            return False
    return True


def _outcome(
    status: Literal["finished", "interrupted"], spec: CampaignSpec, folder: Path, chunks: list[ChunkSummary]
) -> CampaignOutcome:
    return CampaignOutcome(
        status=status,
        runs=sum(chunk.runs for chunk in chunks),
        expected=spec.plans * len(spec.variants),
        violating={v: sum(chunk.violating for chunk in chunks if chunk.variant == v) for v in spec.variants},
        unknown=sum(chunk.unknown for chunk in chunks),
        errors=sum(chunk.errors for chunk in chunks),
        folder=folder,
    )


def simulator() -> Simulate:
    """Our own; importing it loads all of it."""
    from pipeline.simulate import simulate

    return simulate
