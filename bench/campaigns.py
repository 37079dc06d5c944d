"""What a campaign costs beside simulating and checking: Spark with its tables, against a plain pool of as many processes.

Both have the same runs, in the same chunks and order, in turns; the pool throws away what it finds. Processor time is what counts
where others use the machine.
"""

from __future__ import annotations

import io
import statistics
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from bench.spreading import _spent
from pipeline.campaign import run_campaign
from pipeline.campaign_spec import CampaignSpec
from pipeline.layout import Chunk
from pipeline.manifest import Manifest
from pipeline.simulate import simulate

VARIANTS = ("kafka-0.10", "kafka-0.11", "kafka-2.0", "kafka-2.1", "kafka-2.7")
RUNS = 10_000
CORES = 2
TURNS = 2
BAR = 0.1


class Turn(NamedTuple):
    """What one way of running everything took: seconds by the wall, processor seconds."""

    seconds: float
    cpu_seconds: float


def main(runs: str = "") -> None:
    """Print a row for each turn of each way, and the share that is neither simulating nor checking."""
    plans = int(runs or RUNS) // len(VARIANTS)
    console, table = Console(width=120), Table("turn", "way", "seconds", "CPU seconds", "CPU ms a run", "in its runs")
    shares, walls = [], []
    with ProcessPoolExecutor(CORES) as pool, tempfile.TemporaryDirectory(prefix="tidemark-bench-") as name:
        _campaign(Path(name) / "warm", 10)
        list(pool.map(_simulate, [(_spec("warm", 10), Chunk(variant, 0, 0, 2)) for variant in VARIANTS]))
        for number in range(TURNS):
            folder = Path(name) / f"turn-{number}"
            spark, inside = _campaign(folder, plans)
            layout = Manifest.read(folder)
            assert layout is not None
            chunks = [(layout.spec, layout.layout.task(task)) for task in range(layout.layout.tasks)]
            began, used = time.monotonic(), _spent()
            list(pool.map(_simulate, chunks))
            plain = Turn(time.monotonic() - began, _spent() - used)
            shares.append(1 - plain.cpu_seconds / spark.cpu_seconds)
            walls.append(spark.seconds / plain.seconds)
            count = plans * len(VARIANTS)
            for way, turn, told in (
                (
                    f"Spark, {len(chunks)} chunks",
                    spark,
                    f"{inside / (CORES * spark.seconds):.0%} of {CORES} cores' time",
                ),
                ("pool", plain, ""),
            ):
                each = f"{1e3 * turn.cpu_seconds / count:.2f}"
                table.add_row(str(number + 1), way, f"{turn.seconds:.1f}", f"{turn.cpu_seconds:.1f}", each, told)
    console.print(table)
    console.print(
        f"Spark ÷ pool by the wall {statistics.median(walls):.2f}; neither simulating nor checking: "
        f"{statistics.median(shares):.1%} of the processor time (bar: {BAR:.0%}); Spark's start left out"
    )


def _spec(name: str, plans: int) -> CampaignSpec:
    return CampaignSpec(name, VARIANTS, plans, 1)


def _campaign(folder: Path, plans: int) -> tuple[Turn, float]:
    """Run it; also the seconds that its runs took, by their own clocks."""
    began, used = time.monotonic(), _spent()
    run_campaign(_spec(folder.name, plans), folder, master=f"local[{CORES},3]", console=Console(file=io.StringIO()))
    turn = Turn(time.monotonic() - began, _spent() - used)
    inside = sum(
        pq.read_table(path, columns=["wall_us"])["wall_us"].to_numpy().sum()
        for path in folder.glob("runs/**/*.parquet")
    )
    return turn, float(inside) / 1e6


def _simulate(work: tuple[CampaignSpec, Chunk]) -> int:
    """All runs of a chunk, and nothing else."""
    spec, chunk = work
    return sum(
        len(simulate(spec, chunk.variant, index)[1].verdict.anomalies) for index in range(chunk.first, chunk.stop)
    )
