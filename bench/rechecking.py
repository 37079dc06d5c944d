"""Judging stored histories again: `tidemark check` of a campaign on Spark, beside one plain Python process that reads the same.

The campaign is made of one chunk of simulated runs for each variant, stored again and again under other numbers. Both take turns
at one variant after the other. The plain process reads and judges, and does nothing else; the command also compares bytes with
digests, writes verdicts and tells what changed. Processor time of all that is below this process is the measure that a busy machine
spoils least.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from bench.processor_time import ProcessorTime
from tidemark.checkers import check
from tidemark.checkers.history.collector_paused import collector_paused
from tidemark.pipeline.chunks.chunk import Task, parquet, run_chunk
from tidemark.pipeline.engines.session import spark_session
from tidemark.pipeline.folder.layout import Chunk
from tidemark.pipeline.folder.manifest import Manifest, open_campaign
from tidemark.pipeline.folder.record import ChunkRecord, Written, write_whole
from tidemark.pipeline.folder.stored_history import stored_histories
from tidemark.pipeline.folder.tables import SCHEMAS, chunk_file, record_file
from tidemark.pipeline.recheck.recheck import Question, recheck_campaign
from tidemark.pipeline.runs.campaign_spec import CampaignSpec
from tidemark.pipeline.runs.simulate import simulate

OPERATIONS = 5_000_000
VARIANTS = ("kafka-0.10", "kafka-0.11", "kafka-2.0", "kafka-2.1", "kafka-2.7")
"""Of which the first is left out of the figures: both have to warm up."""
PLANS_A_CHUNK = 50
CORES = 2
BAR = 0.5


@dataclass
class Turn:
    """What one turn took."""

    operations: int
    seconds: float
    cpu: float


def main(operations: str = "") -> None:
    """Print rates for so many stored operations, and the ratio per core."""
    with tempfile.TemporaryDirectory(prefix="tidemark-bench-") as place:
        folder = Path(place) / "stored"
        stored = _store(folder, int(operations or OPERATIONS))
        began = time.monotonic()
        spark_session(f"local[{CORES}]")
        start = time.monotonic() - began
        turns: dict[str, list[Turn]] = {"plain": [], "Spark": []}
        with ProcessPoolExecutor(1) as pool, ProcessorTime() as time_of_all:
            pool.submit(abs, 1).result()
            for variant in VARIANTS:
                plain = _timed(
                    time_of_all, stored[variant], lambda variant=variant: pool.submit(_plain, folder, variant).result()
                )
                turns["plain"].append(plain)
                turns["Spark"].append(
                    _timed(time_of_all, stored[variant], lambda variant=variant: _on_spark(folder, variant))
                )
    _print(turns, start)


def _timed(time_of_all: ProcessorTime, operations: int, work: Callable[[], object]) -> Turn:
    began, spent = time.monotonic(), time_of_all.spent()
    work()
    return Turn(operations, time.monotonic() - began, time_of_all.spent().since(spent).total)


def _print(turns: dict[str, list[Turn]], start: float) -> None:
    table = Table("judged by", "operations", "operations a second", "a second and core", "CPU s a million")
    for way, found in turns.items():
        cores = CORES if way == "Spark" else 1
        rate = statistics.median(turn.operations / turn.seconds for turn in found[1:])
        cpu = statistics.median(turn.cpu / turn.operations for turn in found[1:])
        operations = sum(turn.operations for turn in found[1:])
        table.add_row(way, f"{operations:,}", f"{rate:,.0f}", f"{rate / cores:,.0f}", f"{1e6 * cpu:.1f}")
    Console(width=120).print(table)
    pairs = list(zip(turns["plain"][1:], turns["Spark"][1:], strict=True))
    by_wall = statistics.median(plain.seconds / (CORES * spark.seconds) for plain, spark in pairs)
    by_cpu = statistics.median(plain.cpu / spark.cpu for plain, spark in pairs)
    print(
        f"rate per core beside the plain process: {by_wall:.2f} by the wall's clock, {by_cpu:.2f} by CPU (bar: {BAR})"
    )
    print(f"medians of {len(pairs)} turns, each also with its trace; Spark's start, left out, {start:.1f} s")


def _plain(folder: Path, variant: str) -> int:
    """One process reads and judges; gives how many runs were valid."""
    manifest = Manifest.read(folder)
    assert manifest is not None
    valid = 0
    for number in range(manifest.layout.chunks):
        file = {table: chunk_file(folder, table, manifest.spec.name, variant, number) for table in SCHEMAS}
        runs = pq.read_table(file["runs"], columns=["plan", "meta"], partitioning=None).to_pylist()
        with collector_paused():
            for _, history in stored_histories(file["ops"], file["trace"], {run["plan"]: run["meta"] for run in runs}):
                valid += check(history).valid == "valid"
    return valid


def _on_spark(folder: Path, variant: str) -> None:
    outcome = recheck_campaign(
        folder, Question(variants=(variant,)), master=f"local[{CORES}]", console=Console(quiet=True), few_rows=0
    )
    assert outcome.total("changed") == 0
    assert outcome.total("judged") == outcome.total("valid") + outcome.total("invalid") + outcome.total("unknown") > 0


def _store(folder: Path, operations: int) -> dict[str, int]:
    """A campaign with so many rows in `ops`, at least; gives how many each variant has."""
    small = CampaignSpec("stored", VARIANTS, PLANS_A_CHUNK, seed=1, profile="destructive", keep="all")
    with tempfile.TemporaryDirectory(prefix="tidemark-bench-") as place:
        first = open_campaign(Path(place), small, chunk_size=PLANS_A_CHUNK)
        rows = {}
        for variant in VARIANTS:
            run_chunk(Task(small, Path(place), first.identity, simulate), Chunk(variant, 0, 0, PLANS_A_CHUNK))
            rows[variant] = pq.read_metadata(chunk_file(Path(place), "ops", "stored", variant, 0)).num_rows
        chunks = -(-operations // sum(rows.values()))
        spec = replace(small, plans=chunks * PLANS_A_CHUNK)
        manifest = open_campaign(folder, spec, chunk_size=PLANS_A_CHUNK)
        with ProcessPoolExecutor(CORES) as pool:
            list(pool.map(partial(_repeat, Path(place), folder, manifest), VARIANTS))
    size = sum(path.stat().st_size for path in folder.rglob("*.parquet"))
    print(
        f"{sum(rows.values()) * chunks:,} stored operations in {chunks * len(VARIANTS)} chunks, {size / 2**20:.0f} MiB"
    )
    return {variant: count * chunks for variant, count in rows.items()}


def _repeat(source: Path, folder: Path, manifest: Manifest, variant: str) -> None:
    """Store the chunk under every number of a campaign."""
    record = ChunkRecord.read(record_file(source, "stored", variant, 0))
    tables = {
        name: pq.read_table(chunk_file(source, name, "stored", variant, 0), partitioning=None) for name in SCHEMAS
    }
    for number in range(manifest.layout.chunks):
        files = {}
        for name, schema in SCHEMAS.items():
            plans = pc.add(tables[name]["plan"], pa.scalar(number * PLANS_A_CHUNK, pa.int32()))
            content = parquet(tables[name].set_column(0, schema.field("plan"), plans))
            write_whole(content, chunk_file(folder, name, "stored", variant, number))
            files[name] = Written(tables[name].num_rows, len(content), sha256(content).hexdigest())
        chunk = manifest.layout.chunk(variant, number)
        summary = replace(record.summary, number=number)
        ChunkRecord(manifest.identity, chunk, summary, files).write(folder, "stored")


if __name__ == "__main__":
    main(*sys.argv[1:])
