"""The unit of work of a campaign: a range of plans under one variant, simulated and checked, and one file per table of it.

Plain Python, without Spark. Who works a chunk out need not be who stores it: on a cluster a worker does the one, the driver the
other.
"""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b, sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from tidemark.checkers.history.collector_paused import collector_paused
from tidemark.checkers.marks import exercised
from tidemark.pipeline.chunks.rows import anomaly_rows, meta_json, op_rows, run_row, trace_rows
from tidemark.pipeline.folder.layout import Chunk
from tidemark.pipeline.folder.record import ChunkRecord, ChunkSummary, Written, write_whole
from tidemark.pipeline.folder.tables import FORMAT, SCHEMAS, chunk_file
from tidemark.pipeline.runs.guard import RunLimitError, RunLimits, apart, within

if TYPE_CHECKING:
    from tidemark.nemesis import Plan
    from tidemark.pipeline.runs.campaign_spec import CampaignSpec
    from tidemark.pipeline.runs.simulate import Simulate

KEPT_OF: Final = 10
"""Of so many plans (0 … 9, 10 … 19 and so on) of a chunk the first violating run has its operations and trace stored when the spec
keeps `violations`. Chunks begin at such plans unless somebody chose another size, so it does not matter how large they are."""

Rows: TypeAlias = dict[str, list[Any]]
"""Rows by table: of the histories' tables, which have many, tuples in the order of the columns, else dictionaries."""


@dataclass(frozen=True, slots=True)
class Task:
    """All that a worker needs to know of a campaign, whichever chunk it works on.

    Attributes:
        spec: what is run. folder: where its tables are, on the machine that stores them. identity: the manifest's.
        simulate: how to run one plan.
        limits: of each run.
        one_by_one: each run in a process of its own, after something has ended the worker that had the chunk.
    """

    spec: CampaignSpec
    folder: Path
    identity: str
    simulate: Simulate
    limits: RunLimits = field(default_factory=RunLimits)
    one_by_one: bool = False


@dataclass(frozen=True, slots=True)
class FinishedChunk:
    """All that comes of a chunk: its record, and the content of its file of each table."""

    record: ChunkRecord
    files: Mapping[str, bytes]

    def store(self, folder: Path, campaign: str) -> None:
        """Write the files and then the record. Storing a chunk twice leaves the same as storing it once.

        Raises:
            OSError: They cannot be written.
        """
        chunk = self.record.chunk
        for table, content in self.files.items():
            write_whole(content, chunk_file(folder, table, campaign, chunk.variant, chunk.number))
        self.record.write(folder, campaign)


def run_chunk(task: Task, chunk: Chunk) -> ChunkSummary:
    """Work the chunk out and store it, here.

    Raises:
        OSError: The files cannot be written.
    """
    finished = work_out(task, chunk)
    finished.store(task.folder, task.spec.name)
    return finished.record.summary


def work_out(task: Task, chunk: Chunk) -> FinishedChunk:
    """Simulate and check every run of the chunk; touches no folder.

    A run that raises, or goes beyond its limits, becomes a row with its traceback in `error` and counts as unknown; its neighbours
    are not touched.
    """
    tables: Rows = {name: [] for name in SCHEMAS}
    kept = -1
    for index in range(chunk.first, chunk.stop):
        block = index // KEPT_OF
        rows = _run(task, chunk.variant, index, may_keep=task.spec.keep == "all" or block != kept)
        if rows["runs"][0]["kept"]:
            kept = block
        for name in rows:
            tables[name] += rows[name]
    with collector_paused():
        return _finished(task, chunk, tables)


def _run(task: Task, variant: str, index: int, *, may_keep: bool) -> Rows:
    """Everything one run gives to the tables, or the row of a run that raised."""
    started = time.perf_counter_ns()
    run: dict[str, Any] = {"plan": index, "seed": task.spec.seed, "violations": 0, "permitted": 0, "kept": False}
    rows: Rows = {"runs": [run]}
    try:
        if task.one_by_one:
            found = apart(lambda: _found(task, variant, index, may_keep=may_keep), task.limits)
        else:
            with within(task.limits), collector_paused():
                found = _found(task, variant, index, may_keep=may_keep)
        run |= found["runs"][0]
        rows = found | {"runs": [run]}
    except RunLimitError as error:
        run |= {"valid": "unknown", "error": str(error)}
    except Exception:  # noqa: BLE001  one broken run must not cost the others
        run |= {"valid": "unknown", "error": traceback.format_exc(limit=-8)}
    run["wall_us"] = (time.perf_counter_ns() - started) // 1000
    return rows


def _found(task: Task, variant: str, index: int, *, may_keep: bool) -> Rows:
    """Carry the run out; of its row what it came to."""
    plan, result = task.simulate(task.spec, variant, index)
    run = run_row(result.verdict)
    run |= {"faults": len(plan.faults), "digest": result.digest, "plan_digest": plan_digest(plan)}
    run |= {"events": result.events, "virtual_us": result.virtual_us}
    run["marks"] = list(exercised(result.history.trace, result.history.meta))
    rows: Rows = {"runs": [run], "anomalies": anomaly_rows(index, result.verdict)}
    if may_keep and (task.spec.keep == "all" or (task.spec.keep == "violations" and run["violations"] > 0)):
        run |= {"kept": True, "meta": meta_json(result.history)}
        rows["ops"] = op_rows(index, result.history)
        rows["trace"] = trace_rows(index, result.history)
    return rows


_sorted = json.JSONEncoder(sort_keys=True).encode


def plan_digest(plan: Plan) -> str:
    """Names a plan but for its cluster, so that runs of two campaigns on different clusters can be paired."""
    told = {name: value for name, value in plan.to_json().items() if name != "cluster"}
    return blake2b(_sorted(told).encode(), digest_size=8).hexdigest()


def summary_of(chunk: Chunk, runs: list[dict[str, Any]]) -> ChunkSummary:
    """The numbers of a chunk, from its rows of the table `runs`."""
    return ChunkSummary(
        variant=chunk.variant,
        number=chunk.number,
        runs=len(runs),
        violating=sum(row["violations"] > 0 for row in runs),
        permitting=sum(row["permitted"] > 0 for row in runs),
        unknown=sum(row["valid"] == "unknown" for row in runs),
        errors=sum("error" in row for row in runs),
    )


def _finished(task: Task, chunk: Chunk, tables: Rows) -> FinishedChunk:
    """A table without rows still gets its file, so that readers find its columns."""
    contents = {}
    files = {}
    for name, schema in SCHEMAS.items():
        content = parquet(_table(tables[name], schema)).to_pybytes()
        contents[name] = content
        files[name] = Written(len(tables[name]), len(content), sha256(content).hexdigest())
    return FinishedChunk(ChunkRecord(task.identity, chunk, summary_of(chunk, tables["runs"]), files), contents)


def _table(rows: list[Any], schema: pa.Schema) -> pa.Table:
    if not rows or isinstance(rows[0], dict):
        return pa.Table.from_pylist(rows, schema=schema)
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def parquet(table: pa.Table) -> pa.Buffer:
    """The table as a file's bytes, which name the format of the tables."""
    sink = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata({"tidemark.format": str(FORMAT)}), sink, compression="zstd")
    return sink.getvalue()
