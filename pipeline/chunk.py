"""The unit of work of a campaign: a range of plans under one variant, simulated, checked and written as one file per table.

Plain Python, without Spark. Writing a chunk twice leaves the same tables as writing it once, so a task may be retried, doubled
or killed at any moment.
"""

from __future__ import annotations

import json
import os
import time
import traceback
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from checkers.marks import exercised
from pipeline.rows import anomaly_rows, op_rows, run_row, trace_rows
from pipeline.tables import SCHEMAS, chunk_file, variant_folder

if TYPE_CHECKING:
    from pipeline.campaign_spec import CampaignSpec
    from pipeline.simulate import Simulate

KEEP_PER_CHUNK: Final = 2
"""How many violating runs of a chunk have their operations and trace stored when the spec keeps `violations`."""

SUMMARY_KEY: Final = b"tidemark.summary"


@dataclass(frozen=True, slots=True)
class Chunk:
    """Plans `first` … `stop` - 1 under `variant`; `number` counts from 0 within the variant."""

    variant: str
    number: int
    first: int
    stop: int


@dataclass(frozen=True, slots=True)
class ChunkSummary:
    """What a finished chunk found, in numbers of runs; `unknown` includes the runs that raised (`errors`)."""

    variant: str
    number: int
    runs: int
    violating: int
    permitting: int
    unknown: int
    errors: int


Rows: TypeAlias = dict[str, list[dict[str, Any]]]
"""Rows by table."""


def chunks_of(spec: CampaignSpec, size: int) -> list[Chunk]:
    """The campaign's chunks in the order of work: every variant meets the same plans at about the same time."""
    return [
        Chunk(variant, number, first, min(first + size, spec.plans))
        for number, first in enumerate(range(0, spec.plans, size))
        for variant in spec.variants
    ]


def run_chunk(spec: CampaignSpec, chunk: Chunk, folder: Path, simulate: Simulate) -> ChunkSummary:
    """Simulate and check every run of the chunk, then write its files.

    A run that raises becomes a row with its traceback in `error` and counts as unknown; its neighbours are not touched.
    """
    tables: Rows = {name: [] for name in SCHEMAS}
    keep = {"all": spec.plans, "violations": KEEP_PER_CHUNK, "none": 0}[spec.keep]
    for index in range(chunk.first, chunk.stop):
        rows = _run(spec, chunk.variant, index, simulate, may_keep=keep > 0)
        keep -= rows["runs"][0]["kept"]
        for name in rows:
            tables[name] += rows[name]
    summary = _summary(chunk, tables["runs"])
    _write(spec, chunk, folder, tables, summary)
    return summary


Finished: TypeAlias = dict[tuple[str, int], ChunkSummary]
"""Finished chunks by variant and number."""


def finished(folder: Path, campaign: str, variants: tuple[str, ...], known: Finished | None = None) -> Finished:
    """The finished chunks in a campaign's folder. Half-written files are not among them.

    Args:
        folder: The campaign's folder.
        campaign: Its name.
        variants: Its variants.
        known: What an earlier call found, so that only new files are opened.
    """
    found = dict(known or {})
    for variant in variants:
        for path in sorted(variant_folder(folder, "runs", campaign, variant).glob("chunk-*.parquet")):
            number = int(path.stem.removeprefix("chunk-"))
            if (variant, number) not in found:
                found[variant, number] = read_summary(path)
    return found


def read_summary(path: Path) -> ChunkSummary:
    """The summary in the footer of a chunk's `runs` file."""
    metadata = pq.read_schema(path).metadata
    return ChunkSummary(**json.loads(metadata[SUMMARY_KEY]))


def _run(spec: CampaignSpec, variant: str, index: int, simulate: Simulate, *, may_keep: bool) -> Rows:
    """Everything one run gives to the tables, or the row of a run that raised."""
    started = time.perf_counter_ns()
    run: dict[str, Any] = {"plan": index, "seed": spec.seed, "violations": 0, "permitted": 0, "kept": False}
    rows: Rows = {"runs": [run]}
    try:
        plan, result = simulate(spec, variant, index)
        found = run_row(result.verdict)
        found |= {"faults": len(plan.faults), "digest": result.digest}
        found |= {"events": result.events, "virtual_us": result.virtual_us}
        found["marks"] = list(exercised(result.history.trace))
        rows["anomalies"] = anomaly_rows(index, result.verdict)
        if may_keep and (spec.keep == "all" or found["violations"] > 0):
            found["kept"] = True
            rows["ops"] = op_rows(index, result.history)
            rows["trace"] = trace_rows(index, result.history)
        run |= found
    except Exception:  # noqa: BLE001  one broken run must not cost the others
        run |= {"valid": "unknown", "error": traceback.format_exc(limit=-8)}
        rows = {"runs": [run]}
    run["wall_us"] = (time.perf_counter_ns() - started) // 1000
    return rows


def _summary(chunk: Chunk, runs: list[dict[str, Any]]) -> ChunkSummary:
    return ChunkSummary(
        variant=chunk.variant,
        number=chunk.number,
        runs=len(runs),
        violating=sum(row["violations"] > 0 for row in runs),
        permitting=sum(row["permitted"] > 0 for row in runs),
        unknown=sum(row["valid"] == "unknown" for row in runs),
        errors=sum("error" in row for row in runs),
    )


def _write(spec: CampaignSpec, chunk: Chunk, folder: Path, tables: Rows, summary: ChunkSummary) -> None:
    """Write the chunk's files, `runs` last. A table without rows still gets its file, so that readers find its columns."""
    for name, schema in SCHEMAS.items():
        table = pa.Table.from_pylist(tables[name], schema=schema)
        if name == "runs":
            table = table.replace_schema_metadata({SUMMARY_KEY: json.dumps(asdict(summary))})
        _write_atomically(table, chunk_file(folder, name, spec.name, chunk.variant, chunk.number))


def _write_atomically(table: pa.Table, path: Path) -> None:
    """Write under a dot-name that readers skip, sync, rename: the file is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    with temporary.open("wb") as file:
        pq.write_table(table, file, compression="zstd")
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
