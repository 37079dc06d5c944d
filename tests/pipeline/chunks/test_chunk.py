"""A chunk is plain Python: what it writes, and that writing it again changes nothing."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tidemark.pipeline.chunks.chunk import Task, run_chunk
from tidemark.pipeline.folder.layout import Chunk, Layout, Stretch
from tidemark.pipeline.folder.record import ChunkRecord, ChunkSummary
from tidemark.pipeline.folder.tables import SCHEMAS, chunk_file, record_file
from tidemark.pipeline.runs.campaign_spec import CampaignSpec

OLD, NEW = "kafka-0.10", "kafka-2.1+no-fetch-fence"


def rows(folder: Path, table: str, chunk: Chunk) -> list[dict[str, Any]]:
    found = pq.ParquetFile(chunk_file(folder, table, "demo", chunk.variant, chunk.number)).read().to_pylist()
    return [{key: value for key, value in row.items() if key != "wall_us"} for row in found]


def test_chunks_alternate_between_variants_and_cover_every_plan_once() -> None:
    layout = Layout((OLD, NEW), (Stretch(12, 5),))

    assert [layout.task(number) for number in range(layout.tasks)] == [
        Chunk(OLD, 0, 0, 5),
        Chunk(NEW, 0, 0, 5),
        Chunk(OLD, 1, 5, 10),
        Chunk(NEW, 1, 5, 10),
        Chunk(OLD, 2, 10, 12),
        Chunk(NEW, 2, 10, 12),
    ]


def test_what_a_campaign_grows_by_has_chunks_of_its_own() -> None:
    layout = Layout((OLD,), (Stretch(12, 5), Stretch(30, 20)))

    assert (layout.plans, layout.chunks) == (42, 5)
    assert [(c.first, c.stop) for c in map(layout.task, range(5))] == [(0, 5), (5, 10), (10, 12), (12, 32), (32, 42)]
    with pytest.raises(IndexError):
        layout.chunk(OLD, 5)


def task(spec: CampaignSpec, folder: Path, simulate: Callable[..., Any], **more: Any) -> Task:
    return Task(spec, folder, "this-one", simulate, **more)


def test_a_chunk_becomes_one_file_per_table_with_its_summary(
    spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    chunk = Chunk(OLD, 0, 0, 12)

    summary = run_chunk(task(spec, tmp_path, simulate), chunk)

    # 0, 4 and 8 violate; every even plan is permitted something; 5 is unknown.
    assert summary == ChunkSummary(OLD, 0, runs=12, violating=3, permitting=6, unknown=1, errors=0)
    record = ChunkRecord.read(record_file(tmp_path, "demo", OLD, 0))
    assert (record.identity, record.chunk, record.summary) == ("this-one", chunk, summary)
    assert {table: written.rows for table, written in record.files.items()}["anomalies"] == 9
    assert [record.fault(tmp_path, "demo", table) for table in SCHEMAS] == [None] * 4
    assert len(rows(tmp_path, "runs", chunk)) == 12
    assert len(rows(tmp_path, "anomalies", chunk)) == 9
    assert (tmp_path / "runs/campaign=demo/variant=kafka-0.10/chunk-00000.parquet").is_file()


def test_a_variant_with_a_plus_is_escaped_in_the_path(tmp_path: Path) -> None:
    path = chunk_file(tmp_path, "runs", "demo", NEW, 17)

    assert path.relative_to(tmp_path).as_posix() == (
        "runs/campaign=demo/variant=kafka-2.1%2Bno-fetch-fence/chunk-00017.parquet"
    )


def test_of_ten_plans_the_first_violating_run_is_kept_however_large_the_chunks(
    spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    chunk = Chunk(OLD, 0, 0, 23)
    run_chunk(task(spec, tmp_path, simulate), chunk)

    assert [row["plan"] for row in rows(tmp_path, "runs", chunk) if row["kept"]] == [0, 12, 20]
    assert [(row["plan"], row["process"]) for row in rows(tmp_path, "ops", chunk)][:3] == [
        (0, "p1"),
        (0, "nemesis"),
        (12, "p1"),
    ]
    run_chunk(task(spec, tmp_path, simulate), Chunk(OLD, 1, 10, 20))
    assert [row["plan"] for row in rows(tmp_path, "runs", Chunk(OLD, 1, 10, 20)) if row["kept"]] == [12]
    assert json.loads(rows(tmp_path, "trace", chunk)[1]["fields"]) == [0, 0, [1]]


@pytest.mark.parametrize(("keep", "kept"), [("all", 12), ("none", 0)])
def test_all_or_none_are_kept(
    keep: str, kept: int, spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    chunk = Chunk(OLD, 0, 0, 12)
    run_chunk(task(replace(spec, keep=keep), tmp_path, simulate), chunk)

    assert sum(row["kept"] for row in rows(tmp_path, "runs", chunk)) == kept
    assert len({row["plan"] for row in rows(tmp_path, "trace", chunk)}) == kept


def test_a_run_that_raises_is_a_row_and_its_neighbours_stay(
    spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    chunk = Chunk(NEW, 0, 2, 5)

    summary = run_chunk(task(spec, tmp_path, simulate), chunk)

    before, broken, after = rows(tmp_path, "runs", chunk)
    assert (summary.runs, summary.unknown, summary.errors) == (3, 1, 1)
    assert broken["valid"] == "unknown"
    assert "RuntimeError: the simulator tripped" in broken["error"]
    assert (before["valid"], after["valid"]) == ("valid", "invalid")
    assert (before["error"], after["error"]) == (None, None)


def test_a_chunk_written_twice_is_the_chunk_written_once(
    spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    chunk = Chunk(OLD, 1, 5, 10)
    run_chunk(task(spec, tmp_path, simulate), chunk)
    once = {table: rows(tmp_path, table, chunk) for table in SCHEMAS}

    run_chunk(task(spec, tmp_path, simulate), chunk)

    assert {table: rows(tmp_path, table, chunk) for table in SCHEMAS} == once
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == len(SCHEMAS) + 1
