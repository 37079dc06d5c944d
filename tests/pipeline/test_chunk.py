"""A chunk is plain Python: what it writes, and that writing it again changes nothing."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pipeline.campaign_spec import CampaignSpec
from pipeline.chunk import Chunk, ChunkSummary, chunks_of, finished, run_chunk
from pipeline.tables import SCHEMAS, chunk_file

OLD, NEW = "kafka-0.10", "kafka-2.1+no-fetch-fence"


def rows(folder: Path, table: str, chunk: Chunk) -> list[dict[str, Any]]:
    found = pq.ParquetFile(chunk_file(folder, table, "demo", chunk.variant, chunk.number)).read().to_pylist()
    return [{key: value for key, value in row.items() if key != "wall_us"} for row in found]


def test_chunks_alternate_between_variants_and_cover_every_plan_once(spec: CampaignSpec) -> None:
    assert chunks_of(spec, 5) == [
        Chunk(OLD, 0, 0, 5),
        Chunk(NEW, 0, 0, 5),
        Chunk(OLD, 1, 5, 10),
        Chunk(NEW, 1, 5, 10),
        Chunk(OLD, 2, 10, 12),
        Chunk(NEW, 2, 10, 12),
    ]


def test_a_chunk_becomes_one_file_per_table_with_its_summary(
    spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    chunk = Chunk(OLD, 0, 0, 12)

    summary = run_chunk(spec, chunk, tmp_path, simulate)

    # 0, 4 and 8 violate; every even plan is permitted something; 5 is unknown.
    assert summary == ChunkSummary(OLD, 0, runs=12, violating=3, permitting=6, unknown=1, errors=0)
    assert finished(tmp_path, "demo", (OLD, NEW)) == {(OLD, 0): summary}
    assert len(rows(tmp_path, "runs", chunk)) == 12
    assert len(rows(tmp_path, "anomalies", chunk)) == 9
    assert (tmp_path / "runs/campaign=demo/variant=kafka-0.10/chunk-00000.parquet").is_file()


def test_a_variant_with_a_plus_is_escaped_in_the_path(tmp_path: Path) -> None:
    path = chunk_file(tmp_path, "runs", "demo", NEW, 17)

    assert path.relative_to(tmp_path).as_posix() == (
        "runs/campaign=demo/variant=kafka-2.1%2Bno-fetch-fence/chunk-00017.parquet"
    )


def test_the_first_two_violating_runs_are_kept(
    spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    chunk = Chunk(OLD, 0, 0, 12)
    run_chunk(spec, chunk, tmp_path, simulate)

    assert [row["plan"] for row in rows(tmp_path, "runs", chunk) if row["kept"]] == [0, 4]
    assert [(row["plan"], row["process"]) for row in rows(tmp_path, "ops", chunk)] == [
        (0, "p1"),
        (0, "nemesis"),
        (4, "p1"),
        (4, "nemesis"),
    ]
    assert json.loads(rows(tmp_path, "trace", chunk)[1]["fields"]) == [0, 0, [1]]


@pytest.mark.parametrize(("keep", "kept"), [("all", 12), ("none", 0)])
def test_all_or_none_are_kept(
    keep: str, kept: int, spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    chunk = Chunk(OLD, 0, 0, 12)
    run_chunk(replace(spec, keep=keep), chunk, tmp_path, simulate)

    assert sum(row["kept"] for row in rows(tmp_path, "runs", chunk)) == kept
    assert len({row["plan"] for row in rows(tmp_path, "trace", chunk)}) == kept


def test_a_run_that_raises_is_a_row_and_its_neighbours_stay(
    spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    chunk = Chunk(NEW, 0, 2, 5)

    summary = run_chunk(spec, chunk, tmp_path, simulate)

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
    run_chunk(spec, chunk, tmp_path, simulate)
    once = {table: rows(tmp_path, table, chunk) for table in SCHEMAS}

    run_chunk(spec, chunk, tmp_path, simulate)

    assert {table: rows(tmp_path, table, chunk) for table in SCHEMAS} == once
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == len(SCHEMAS)


def test_an_unfinished_file_is_no_finished_chunk(
    spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    path = chunk_file(tmp_path, "runs", "demo", OLD, 0)
    path.parent.mkdir(parents=True)
    path.with_name(f".{path.name}.0123.tmp").write_bytes(b"PAR1 half of")

    assert finished(tmp_path, "demo", (OLD, NEW)) == {}
