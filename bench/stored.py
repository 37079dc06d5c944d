"""A comparison of many stored runs: time, memory, bytes and files. The runs are drawn, not simulated, and lie as a campaign's do.

Plans are paired as in a campaign, digests are as hard to compress, and shares of hits, anomalies a run and marks are like those of
the demo's campaign. Chunks have as many plans as a campaign of so many would choose where a run takes 10 ms.

The driver, which is its JVM and the Python that asks, has two cores and shall keep within 2 GB, whatever is stored: the JVM's heap
is smaller by what it needs for classes, code and buffers.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from hashlib import blake2b, sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

from bench.processor_time import COMMAND_OF_JVM, ProcessorTime, below, memory_of, processes
from tidemark.checkers.marks import MARKS
from tidemark.pipeline.chunks.chunk import parquet
from tidemark.pipeline.chunks.chunk_size import chunk_size
from tidemark.pipeline.folder.manifest import Manifest, open_campaign
from tidemark.pipeline.folder.record import ChunkRecord, ChunkSummary, Written, write_whole
from tidemark.pipeline.folder.tables import ANOMALIES, RUNS, SCHEMAS, chunk_file
from tidemark.pipeline.runs.campaign_spec import CampaignSpec

if TYPE_CHECKING:
    from tidemark.harness.runs.judged import JudgedRun
    from tidemark.nemesis import Plan
    from tidemark.pipeline.folder.layout import Chunk

VARIANTS = ("kafka-0.10", "kafka-0.11", "kafka-2.0", "kafka-2.1", "kafka-2.7")
SHARE_HIT = (0.1, 0.02, 0.01, 0.004, 0.0005)
SIZES = (20_000, 200_000)
RUN_SECONDS = 0.01
CORES = 2
DRIVER_MEMORY = "1300m"
BAR_MB = 2048
MEGABYTE = 1 << 20
EVIDENCE = json.dumps({"ack_time": 912_345, "offset": 17, "value": 2_000_003, "replicas": [1, 2, 3]})


def main(runs: str = "") -> None:
    """Print a row for each number of runs, or for the one that is given."""
    table = Table(
        "runs", "stored", "files", "MB a million", "written", "comparison", "examples", "CPU s", "JVM", "Python", "both"
    )
    for size in (int(runs),) if runs else SIZES:
        with tempfile.TemporaryDirectory(prefix="tidemark-bench-") as name:
            folder = Path(name) / "stored"
            began = time.monotonic()
            write_campaign(folder, size // len(VARIANTS))
            written = time.monotonic() - began
            sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
            told = json.loads(
                subprocess.run(
                    [sys.executable, "-m", "bench.stored", str(folder)],
                    env=os.environ | {"PYSPARK_SUBMIT_ARGS": f"--driver-memory {DRIVER_MEMORY} pyspark-shell"},
                    stdout=subprocess.PIPE,
                    check=True,
                ).stdout.splitlines()[-1]
            )
        table.add_row(
            f"{size:,}",
            f"{sum(sizes) / MEGABYTE:,.0f} MB",
            f"{len(sizes):,}",
            f"{sum(sizes) / MEGABYTE / size * 1e6:,.0f}",
            f"{written:.0f} s",
            f"{told['compare']:.1f} s",
            f"{told['examples']:.1f} s",
            f"{told['cpu']:.0f}",
            f"{told['jvm_mb']:,} MB",
            f"{told['python_mb']:,} MB",
            f"{told['jvm_mb'] + told['python_mb']:,} MB",
        )
    console = Console(width=130)
    console.print(table)
    console.print(
        f"memory of the driver at most, as the kernel counts it; its heap has {DRIVER_MEMORY} (bar: {BAR_MB:,} MB for both)"
    )


def write_campaign(folder: Path, plans: int) -> None:
    """A campaign of so many plans under each of `VARIANTS`, of which no history is kept."""
    spec = CampaignSpec(folder.name, VARIANTS, plans, 1, keep="none")
    manifest = open_campaign(folder, spec, chunk_size=chunk_size(RUN_SECONDS, plans, len(VARIANTS), CORES))
    with ProcessPoolExecutor(CORES) as pool:
        list(pool.map(partial(_write_task, folder, manifest), range(manifest.layout.tasks), chunksize=10))


def digest_of(variant: str, plan: int) -> str:
    """In the place of a run's digest."""
    return blake2b(f"{variant}/{plan}".encode(), digest_size=16).hexdigest()


def _write_task(folder: Path, manifest: Manifest, task: int) -> None:
    chunk = manifest.layout.task(task)
    _write_chunk(folder, manifest, chunk, SHARE_HIT[VARIANTS.index(chunk.variant)])


def _write_chunk(folder: Path, manifest: Manifest, chunk: Chunk, share: float) -> None:
    size = chunk.stop - chunk.first
    chance = np.random.default_rng([VARIANTS.index(chunk.variant), chunk.number])
    hit, permitted, unknown = (chance.random(size) < limit for limit in (share, 0.9, 0.002))
    plans = np.arange(chunk.first, chunk.stop)
    first = np.where(hit, chance.integers(500_000, 20_000_000, size), -1)
    marked = chance.random((size, len(MARKS))) < 0.3
    names = np.array(list(MARKS))
    columns: dict[str, Any] = {
        "plan": plans,
        "seed": np.ones(size),
        "plan_digest": [blake2b(str(plan).encode(), digest_size=8).hexdigest() for plan in plans],
        "faults": chance.integers(1, 12, size),
        "digest": [digest_of(chunk.variant, plan) for plan in plans],
        "valid": np.where(unknown, "unknown", np.where(hit, "invalid", "valid")),
        "contract": np.full(size, "documented"),
        "violations": hit * 2,
        "permitted": permitted * 1,
        "first_violation_us": pa.array(first, pa.int64(), mask=~hit),
        "availability": chance.random(size),
        "recovery_us": pa.array(chance.integers(50_000, 5_000_000, size), pa.int64(), mask=chance.random(size) < 0.01),
        "kept": np.zeros(size, dtype=bool),
        "marks": [names[row].tolist() for row in marked],
        "acked_lost_violation": hit * 1,
        "acked_lost_permitted": np.zeros(size, dtype=int),
    }
    many = ("acked", "sends", "polls", "elections", "unclean_elections", "truncations", "records_truncated")
    columns |= {name: chance.integers(0, 300, size) for name in (*many, "epoch_round_trips")}
    columns |= {name: chance.integers(1e4, 3e7, size) for name in ("events", "virtual_us", "wall_us")}
    runs = pa.table(
        [
            pa.array(columns[field.name], from_pandas=False).cast(field.type)
            if field.name in columns
            else pa.nulls(size, field.type)
            for field in RUNS
        ],
        schema=RUNS,
    )
    rows: list[dict[str, Any]] = []
    for place in np.flatnonzero(hit):
        at = {"plan": int(plans[place]), "time_us": int(first[place]), "verdict": "violation", "partition": "t-0"}
        rows.append(
            at
            | {
                "name": "lost-committed-write",
                "breaks": ["documented", "durable"],
                "evidence": EVIDENCE,
                "message": "gone",
            }
        )
        rows.append(
            at | {"name": "leader-completeness", "breaks": [], "evidence": EVIDENCE, "message": "a leader lacks it"}
        )
    for place in np.flatnonzero(permitted):
        at = {"plan": int(plans[place]), "time_us": 700_000, "verdict": "permitted", "partition": "t-0"}
        rows.append(
            at | {"name": "hw-regression", "breaks": [], "evidence": "{}", "message": "the high watermark went back"}
        )
    tables = {"runs": runs, "anomalies": pa.Table.from_pylist(rows, schema=ANOMALIES)}
    files = {}
    for name, schema in SCHEMAS.items():
        table = tables.get(name, schema.empty_table())
        content = parquet(table)
        write_whole(content, chunk_file(folder, name, manifest.spec.name, chunk.variant, chunk.number))
        files[name] = Written(table.num_rows, len(content), sha256(content).hexdigest())
    summary = ChunkSummary(
        chunk.variant, chunk.number, size, int(hit.sum()), int(permitted.sum()), int(unknown.sum()), errors=0
    )
    ChunkRecord(manifest.identity, chunk, summary, files).write(folder, manifest.spec.name)


def _measure(folder: Path) -> dict[str, float]:
    """Compare the campaign in this process, and choose examples as its report does."""
    from tidemark.pipeline.compare.compare import compare
    from tidemark.pipeline.compare.examples import choose_examples
    from tidemark.pipeline.engines.session import spark_session
    from tidemark.pipeline.engines.spark_engine import SparkEngine
    from tidemark.pipeline.runs.simulate import simulate

    def drawn(spec: CampaignSpec, variant: str, index: int) -> tuple[Plan, JudgedRun]:
        plan, result = simulate(spec, variant, 0)
        return plan, replace(result, digest=digest_of(variant, index))

    engine = SparkEngine(spark_session(f"local[{CORES}]"))
    with ProcessorTime() as time_of_all:
        began, used = time.monotonic(), time_of_all.spent()
        comparison = compare(engine, folder)
        compared = time.monotonic()
        assert sum(variant.runs for variant in comparison.variants) == comparison.plans * len(VARIANTS)
        assert choose_examples(engine, folder, drawn)
        chosen, spent = time.monotonic(), time_of_all.spent().since(used)
    there = processes()
    ours = below(there, {os.getpid()})
    return {
        "cpu": spent.total,
        "compare": compared - began,
        "examples": chosen - compared,
        "jvm_mb": max(memory_of(pid, "VmHWM") for pid in ours if there[pid].command == COMMAND_OF_JVM) // 1024,
        "python_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


if __name__ == "__main__":
    print(json.dumps(_measure(Path(sys.argv[1]))))
