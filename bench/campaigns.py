"""What a campaign costs beside simulating and checking: Spark with its tables, against a plain pool of as many processes.

Both have the same runs, in the same chunks and order, in turns. The pool simulates, checks, and looks for marks, which is checking
too, and throws away what it finds. The share of a campaign's time that is neither is what it has more than the pool:
1 - pool ÷ Spark.

Each process of the pool tells the processor time of this work alone; what it costs to have a pool is left out. Spark's is that of
everything: this process with the threads that store chunks, the JVM, Spark's daemon and all of its workers, also those that have
ended (`bench.processor_time`), with what a campaign does before its first chunk and after the last. Spark's own start is left out.
"""

from __future__ import annotations

import io
import statistics
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.processor_time import ProcessorTime, Spent
from tidemark.checkers.marks import exercised
from tidemark.pipeline.campaign.campaign import run_campaign
from tidemark.pipeline.folder.layout import Chunk
from tidemark.pipeline.folder.manifest import Manifest
from tidemark.pipeline.runs.campaign_spec import CampaignSpec
from tidemark.pipeline.runs.simulate import simulate

VARIANTS = ("kafka-0.10", "kafka-0.11", "kafka-2.0", "kafka-2.1", "kafka-2.7")
RUNS = 10_000
CORES = 2
TURNS = 2
BAR = 0.1


def main(runs: str = "") -> None:
    """Print a row for each turn of each way, and the share that is neither simulating nor checking."""
    plans = int(runs or RUNS) // len(VARIANTS)
    count = plans * len(VARIANTS)
    console = Console(width=120)
    table = Table("turn", "way", "seconds", "CPU seconds", "CPU ms a run", "of it workers", "JVM", "driver's Python")
    by_wall, by_cpu = [], []
    with (
        ProcessPoolExecutor(CORES) as pool,
        tempfile.TemporaryDirectory(prefix="tidemark-bench-") as name,
        ProcessorTime() as time_of_all,
    ):
        _campaign(Path(name) / "warm", 40, time_of_all)
        list(pool.map(_plainly, [(_spec("warm", 10), Chunk(variant, 0, 0, 10)) for variant in VARIANTS]))
        for number in range(TURNS):
            folder = Path(name) / f"turn-{number}"
            seconds, spent = _campaign(folder, plans, time_of_all)
            manifest = Manifest.read(folder)
            assert manifest is not None
            chunks = [(manifest.spec, manifest.layout.task(task)) for task in range(manifest.layout.tasks)]
            began = time.monotonic()
            plain_cpu = sum(pool.map(_plainly, chunks))
            plain_seconds = time.monotonic() - began
            by_wall.append(1 - plain_seconds / seconds)
            by_cpu.append(1 - plain_cpu / spent.total)
            size = manifest.layout.stretches[0].chunk_size
            parts = (f"{part:.1f}" for part in (spent.others, spent.jvm, spent.here))
            table.add_row(
                str(number + 1),
                f"Spark, {len(chunks)} chunks of {size} plans",
                *_told(seconds, spent.total, count),
                *parts,
            )
            table.add_row("", f"pool of {CORES} processes", *_told(plain_seconds, plain_cpu, count))
    console.print(table)
    console.print(
        f"{count:,} runs; neither simulating nor checking: {statistics.median(by_wall):.1%} of the time "
        f"({_range(by_wall)}), {statistics.median(by_cpu):.1%} of the processor time ({_range(by_cpu)}); bar: {BAR:.0%}"
    )


def _told(seconds: float, cpu: float, runs: int) -> tuple[str, str, str]:
    return f"{seconds:.1f}", f"{cpu:.1f}", f"{1e3 * cpu / runs:.2f}"


def _range(shares: list[float]) -> str:
    return " and ".join(f"{share:.1%}" for share in shares)


def _spec(name: str, plans: int) -> CampaignSpec:
    return CampaignSpec(name, VARIANTS, plans, 1)


def _campaign(folder: Path, plans: int, time_of_all: ProcessorTime) -> tuple[float, Spent]:
    """Run it; seconds by the wall, and of processors."""
    began, used = time.monotonic(), time_of_all.spent()
    outcome = run_campaign(
        _spec(folder.name, plans), folder, master=f"local[{CORES},3]", console=Console(file=io.StringIO())
    )
    assert outcome.runs == plans * len(VARIANTS)
    return time.monotonic() - began, time_of_all.spent().since(used)


def _plainly(work: tuple[CampaignSpec, Chunk]) -> float:
    """Simulate and check all runs of a chunk, and look for their marks; gives the processor seconds that it took."""
    spec, chunk = work
    began = time.process_time()
    for index in range(chunk.first, chunk.stop):
        history = simulate(spec, chunk.variant, index)[1].history
        exercised(history.trace, history.meta)
    return time.process_time() - began
