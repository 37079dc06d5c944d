"""Chunks come home with their tasks, and one thread stores them."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tidemark.pipeline.chunks import chunk as chunks
from tidemark.pipeline.chunks.chunk import FinishedChunk, Task, run_chunk, work_out
from tidemark.pipeline.engines.brought import Brought
from tidemark.pipeline.engines.delivery import Delivery
from tidemark.pipeline.folder.layout import Chunk
from tidemark.pipeline.folder.record import ChunkSummary
from tidemark.pipeline.runs.campaign_spec import CampaignSpec

OLD = "kafka-0.10"


def finished(spec: CampaignSpec, simulate: Callable[..., Any], number: int) -> FinishedChunk:
    return work_out(Task(spec, Path("/nowhere"), "this-one", simulate), Chunk(OLD, number, number, number + 1))


def files(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): path.stat().st_size for path in folder.rglob("*") if path.is_file()}


def test_what_is_delivered_is_what_a_chunk_writes_itself(
    spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks.time, "perf_counter_ns", lambda: 0)  # the one column that differs
    told: list[ChunkSummary] = []

    with Delivery(tmp_path / "there", "demo", told) as delivery:
        delivery.take([finished(spec, simulate, number) for number in range(3)])

    here = Task(spec, tmp_path / "here", "this-one", simulate)
    assert sorted(told, key=lambda one: one.number) == [
        run_chunk(here, Chunk(OLD, number, number, number + 1)) for number in range(3)
    ]
    assert files(tmp_path / "there") == files(tmp_path / "here")
    assert len(files(tmp_path / "there")) == 15


def test_what_cannot_be_stored_ends_the_job_and_blocks_nobody(
    spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "runs").write_text("no folder")
    told: list[ChunkSummary] = []
    given_up: list[str] = []

    def job() -> None:
        with Delivery(tmp_path, "demo", told, give_up=lambda: given_up.append("once")) as delivery:
            for number in range(40):
                delivery.take([finished(spec, simulate, number)])
            raise RuntimeError("the job was cancelled")

    with pytest.raises(OSError, match="runs"):
        job()

    assert (told, given_up) == ([], ["once"])
    assert not list(tmp_path.rglob("*.json"))


def test_the_driver_keeps_nothing_that_tasks_bring(spec: CampaignSpec, simulate: Callable[..., Any]) -> None:
    taken: list[Any] = []
    at_home = Brought(taken.extend)
    there = pickle.loads(pickle.dumps(at_home))

    collected = there.addInPlace(there.zero([]), ["a chunk"])
    kept = at_home.addInPlace([], collected)

    assert (collected, kept, taken) == (["a chunk"], [], ["a chunk"])
