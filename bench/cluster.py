"""What a campaign's size on a cluster follows from: a run's processor time and bytes, and how fast chunks come home."""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tidemark.pipeline.chunks.chunk import FinishedChunk, Task, work_out
from tidemark.pipeline.engines.brought import Brought
from tidemark.pipeline.engines.code_archive import code_archive
from tidemark.pipeline.engines.delivery import Delivery
from tidemark.pipeline.engines.session import spark_session
from tidemark.pipeline.folder.layout import Chunk
from tidemark.pipeline.folder.record import ChunkSummary
from tidemark.pipeline.runs.campaign_spec import CampaignSpec
from tidemark.pipeline.runs.guard import RunLimits, apart
from tidemark.pipeline.runs.simulate import simulate

PLANS = 200
CASES = (
    ("kafka-0.10", "intact", "violations"),
    ("kafka-0.10", "intact", "none"),
    ("kafka-2.7", "intact", "violations"),
    ("kafka-2.7", "destructive", "violations"),
)
LARGE = 40
"""A chunk of so many times the bytes."""
STORED = 100
BROUGHT = 64
CORES = 2


def main() -> None:
    """Print what a run costs, and what becomes of a chunk that is finished."""
    console = Console()
    console.print(f"The code that travels with a job: {len(code_archive()[1]) / 1e6:.1f} MB.")
    columns = ("variant", "profile", "keep", "ms of CPU a run", "bytes a run", "kB of the worker's memory a run")
    table = Table(*columns, title=f"{PLANS} plans in a chunk")
    chunks = []
    for case in CASES:
        chunk, seconds, memory = apart(partial(_worked_out, *case), RunLimits(seconds=0, memory_mb=0))
        chunks.append(chunk)
        table.add_row(
            *case, f"{seconds / PLANS * 1e3:.1f}", f"{_size(chunk) / PLANS:.0f}", f"{memory / PLANS / 1e3:.0f}"
        )
    console.print(table)
    table = Table("bytes of a chunk", "ms", "ms of CPU", "MB/s", title="stored by the driver")
    for times in (1, LARGE):
        table.add_row(*_stored(_times(chunks[0], times)))
    console.print(table)
    console.print(_brought(_times(chunks[0], LARGE)))


def _worked_out(variant: str, profile: str, keep: str) -> tuple[FinishedChunk, float, int]:
    """A chunk, the seconds of CPU it took, and by how many bytes the process has grown."""
    spec = CampaignSpec("bench", (variant,), plans=PLANS, seed=7, profile=profile, keep=keep)
    task = Task(spec, Path("/nowhere"), "bench", simulate)
    work_out(task, Chunk(variant, 0, 0, 3))  # loads what all need
    began, before = time.process_time(), _most_memory()
    chunk = work_out(task, Chunk(variant, 0, 0, PLANS))
    return chunk, time.process_time() - began, _most_memory() - before


def _size(chunk: FinishedChunk) -> int:
    return sum(map(len, chunk.files.values()))


def _times(chunk: FinishedChunk, times: int) -> FinishedChunk:
    return replace(chunk, files={table: content * times for table, content in chunk.files.items()})


def _numbered(chunk: FinishedChunk, numbers: Sequence[int]) -> Iterator[FinishedChunk]:
    for number in numbers:
        yield replace(chunk, record=replace(chunk.record, chunk=replace(chunk.record.chunk, number=number)))


def _stored(chunk: FinishedChunk) -> tuple[str, ...]:
    told: list[ChunkSummary] = []
    with tempfile.TemporaryDirectory() as folder:
        began, spent = time.perf_counter(), time.process_time()
        with Delivery(Path(folder), "bench", told) as delivery:
            for one in _numbered(chunk, range(STORED)):
                delivery.take([one])
        seconds, cpu = time.perf_counter() - began, time.process_time() - spent
    rate = _size(chunk) * STORED / seconds / 1e6
    return f"{_size(chunk):,}", f"{seconds / STORED * 1e3:.1f}", f"{cpu / STORED * 1e3:.1f}", f"{rate:.0f}"


def _brought(chunk: FinishedChunk) -> str:
    """Tasks that bring chunks through Spark to the folder, and do nothing else."""
    context = spark_session(f"local[{CORES}]").sparkContext
    told: list[ChunkSummary] = []
    context.parallelize(range(CORES), CORES).foreach(lambda _: None)  # starts the workers
    shared = context.broadcast(chunk)
    with tempfile.TemporaryDirectory() as folder:
        began, spent = time.perf_counter(), time.process_time()
        with Delivery(Path(folder), "bench", told) as delivery:
            brought = context.accumulator([], Brought(delivery.take))

            def bring(numbers: Iterator[int]) -> None:
                brought.add(list(_numbered(shared.value, list(numbers))))

            context.parallelize(range(BROUGHT), BROUGHT).foreachPartition(bring)
        seconds, cpu = time.perf_counter() - began, time.process_time() - spent
    size = _size(chunk)
    return (
        f"Through Spark, {BROUGHT} tasks that each bring {size / 1e6:.1f} MB: {seconds / BROUGHT * 1e3:.0f} ms and "
        f"{cpu / BROUGHT * 1e3:.1f} ms of the driver's Python a task, {size * BROUGHT / seconds / 1e6:.0f} MB/s."
    )


def _most_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
