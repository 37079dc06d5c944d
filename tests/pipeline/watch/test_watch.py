"""A campaign that is followed while it runs: in the end its numbers are the comparison's, whatever happened on the way."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tidemark.harness.report.comparison import ANY, Comparison
from tidemark.pipeline.chunks.chunk import Task, run_chunk
from tidemark.pipeline.compare.compare import compare
from tidemark.pipeline.engines.spark_engine import SparkEngine
from tidemark.pipeline.folder.manifest import Manifest, locked, open_campaign
from tidemark.pipeline.folder.tables import record_file
from tidemark.pipeline.runs.campaign_spec import CampaignSpec
from tidemark.pipeline.watch.watch import Watched, watch_campaign
from tidemark.served.contents import campaign_state

pytestmark = [pytest.mark.spark, pytest.mark.slow]

OLD, NEW = "kafka-0.10", "kafka-2.1+no-fetch-fence"
PATIENCE_S = 300


@pytest.fixture(params=[None, pytest.param("local[1]", marks=pytest.mark.systems)], ids=["without Spark", "by Spark"])
def master(request: pytest.FixtureRequest) -> str | None:
    return request.param


def run(folder: Path, manifest: Manifest, simulate: Callable[..., Any], *tasks: int) -> None:
    for task in tasks:
        run_chunk(Task(manifest.spec, folder, manifest.identity, simulate), manifest.layout.task(task))


def until(watched: Iterator[Watched], wanted: Callable[[Watched], bool]) -> Watched:
    end = time.monotonic() + PATIENCE_S
    for now in watched:
        if wanted(now):
            return now
        assert time.monotonic() < end, now
    raise AssertionError("it ended before")


def compared(watched: Watched, comparison: Comparison) -> None:
    """Every number that both tell is the same."""
    for mine, theirs in zip(watched.variants, comparison.variants, strict=True):
        assert (mine.variant, mine.runs, mine.errors) == (theirs.variant, theirs.runs, theirs.errors)
        everything = theirs.count(ANY)
        assert everything is not None
        assert (mine.violating, mine.permitting) == (everything.violation, everything.permitted)
        told = {name: (violation, permitted) for name, violation, permitted in mine.anomalies}
        for row in theirs.anomalies:
            if row.name != ANY and row.violation.hits + row.permitted.hits:
                assert told.pop(row.name) == (row.violation, row.permitted)
        assert told == {}


def test_it_is_followed_from_before_its_beginning_to_its_end(
    spark: SparkSession, spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path, master: str | None
) -> None:
    folder = tmp_path / "a campaign [of 12]"
    watched = watch_campaign(folder, master=master, seconds=0.1)
    assert next(watched).status == "waiting"
    with locked(folder):
        manifest = open_campaign(folder, spec, chunk_size=4)
        assert next(watched).status == "running"
        run(folder, manifest, simulate, 0, 1)
        first = until(watched, lambda now: now.runs == 8)
        # Of plans 0 … 3 number 0 violates under OLD, and 3 raises under NEW.
        assert [(one.variant, one.violating.hits, one.violating.runs, one.errors) for one in first.variants] == [
            (OLD, 1, 4, 0),
            (NEW, 0, 3, 1),
        ]
        assert [violation.command for violation in first.newest] == [
            "tidemark run --variant kafka-0.10 --seed 7 --index 0 --profile intact"
        ]
        assert first.status == "running"
        # While it is followed a chunk is taken back and done again, with another outcome.
        record_file(folder, "demo", NEW, 0).unlink()

        def mended(spec: CampaignSpec, variant: str, index: int) -> Any:
            return simulate(spec, variant, 2 if index == 3 else index)

        run(folder, manifest, mended, 1, 2, 3, 4, 5)
        assert until(watched, lambda now: now.runs == 24).status == "running"  # the lock is held
    last = until(watched, lambda now: now.ended)

    assert (last.status, last.runs, last.expected) == ("finished", 24, 24)
    assert list(watched) == []
    compared(last, compare(SparkEngine(spark), folder))
    state = campaign_state(folder)
    assert [(one.variant, one.done, one.violating, one.unknown) for one in state.variants] == [
        (one.variant, one.runs, one.violating.hits, one.violating.unknown) for one in last.variants
    ]
    assert [(violation.run.variant, violation.run.plan) for violation in last.newest][-1] == (OLD, 0)


def test_what_nobody_works_on_any_more_was_interrupted(
    spark: SparkSession, spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path, master: str | None
) -> None:
    manifest = open_campaign(tmp_path, spec, chunk_size=4)
    *_, last = watch_campaign(tmp_path, master=master, seconds=0.1, quiet=0.5)
    assert (last.status, last.runs, last.expected) == ("interrupted", 0, 24)

    run(tmp_path, manifest, simulate, 0, 1, 2)
    *_, last = watch_campaign(tmp_path, master=master, seconds=0.1, quiet=0.5)

    assert (last.status, last.runs) == ("interrupted", 12)
    compared(last, compare(SparkEngine(spark), tmp_path))


def test_a_campaign_that_was_begun_anew_is_counted_anew(
    spark: SparkSession, spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path, master: str | None
) -> None:
    with locked(tmp_path):
        run(tmp_path, open_campaign(tmp_path, spec, chunk_size=4), simulate, 0, 1, 2)
        watched = watch_campaign(tmp_path, master=master, seconds=0.1)
        until(watched, lambda now: now.runs == 12)
        run(tmp_path, open_campaign(tmp_path, spec, chunk_size=12, fresh=True), simulate, 0)
        until(watched, lambda now: now.status == "starting")
        assert until(watched, lambda now: now.runs > 0).runs == 12
        watched.close()
