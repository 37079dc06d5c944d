"""A campaign of few runs is followed without Spark, and without a Java."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tidemark.harness.report.comparison import ANY
from tidemark.pipeline.chunks.chunk import Task, run_chunk
from tidemark.pipeline.compare.compare import compare
from tidemark.pipeline.engines.small_engine import SmallEngine
from tidemark.pipeline.folder.finished_chunks import DamagedTableError
from tidemark.pipeline.folder.manifest import open_campaign
from tidemark.pipeline.folder.tables import chunk_file
from tidemark.pipeline.runs.campaign_spec import CampaignSpec
from tidemark.pipeline.watch.watch import watch_campaign


@pytest.fixture
def campaign(spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    def none(*_: object, **__: object) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr("tidemark.pipeline.engines.session.spark_session", none)
    manifest = open_campaign(tmp_path, spec, chunk_size=4)
    for task in range(manifest.layout.tasks):
        run_chunk(Task(spec, tmp_path, manifest.identity, simulate), manifest.layout.task(task))
    return tmp_path


def test_its_numbers_are_the_comparison_s(campaign: Path) -> None:
    *_, last = watch_campaign(campaign, seconds=0.1, quiet=0.5)
    comparison = compare(SmallEngine(), campaign)

    assert (last.status, last.runs) == ("finished", 24)
    for mine, theirs in zip(last.variants, comparison.variants, strict=True):
        everything = theirs.count(ANY)
        assert everything is not None
        assert (mine.violating, mine.permitting) == (everything.violation, everything.permitted)
    assert [(one.run.variant, one.run.plan) for one in last.newest][-1] == ("kafka-0.10", 0)


def test_a_file_that_cannot_be_read_is_told(campaign: Path) -> None:
    chunk_file(campaign, "runs", "demo", "kafka-0.10", 0).write_bytes(b"torn")

    with pytest.raises(DamagedTableError, match="cannot be read"):
        list(watch_campaign(campaign, seconds=0.1, quiet=0.5))
