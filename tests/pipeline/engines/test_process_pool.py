"""Small campaigns need no Spark, and are told of in the same words and figures."""

import errno
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tidemark.pipeline.campaign.campaign import CampaignFailedError, run_campaign
from tidemark.pipeline.chunks import chunk as chunks
from tidemark.pipeline.compare.compare import UnreadableError, compare, found_in_tables
from tidemark.pipeline.engines import process_pool as here
from tidemark.pipeline.engines.java import JavaNotFoundError
from tidemark.pipeline.engines.small_engine import SmallEngine
from tidemark.pipeline.engines.spark_engine import SparkEngine
from tidemark.pipeline.engines.spark_or_not import small_engine
from tidemark.pipeline.folder.finished_chunks import DamagedTableError
from tidemark.pipeline.folder.tables import chunk_file
from tidemark.pipeline.runs.campaign_spec import CampaignSpec

OLD = "kafka-0.10"


@pytest.fixture
def no_java(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> None:
        raise JavaNotFoundError("no Java in this test")

    monkeypatch.setattr("tidemark.pipeline.engines.session.ensure_java_home", none)


def quiet() -> Console:
    return Console(file=io.StringIO())


def test_what_is_few_needs_no_java_and_what_is_many_does(
    spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_java: None
) -> None:
    monkeypatch.setattr("tidemark.pipeline.engines.spark_or_not.MOST_RUNS_WITHOUT_SPARK", 24)

    assert run_campaign(spec, tmp_path, chunk_size=5, console=quiet(), simulate=simulate).runs == 24
    assert small_engine(None, tmp_path) is not None
    assert small_engine("local[2]", tmp_path) is None

    monkeypatch.setattr("tidemark.pipeline.engines.spark_or_not.MOST_RUNS_WITHOUT_SPARK", 23)
    assert small_engine(None, tmp_path) is None
    with pytest.raises(JavaNotFoundError):
        run_campaign(spec, tmp_path / "many", chunk_size=5, console=quiet(), simulate=simulate)


@pytest.mark.systems
@pytest.mark.spark
@pytest.mark.slow
def test_spark_and_duckdb_give_the_same_comparison_to_the_last_digit(spark: Any, tmp_path: Path) -> None:
    spec = CampaignSpec("demo", (OLD, "kafka-0.11", "kafka-2.7"), plans=60, seed=11, profile="destructive")
    run_campaign(spec, tmp_path, console=quiet())

    ours = compare(SmallEngine(), tmp_path).to_json()

    assert sum(variant["loss"]["hits"] for variant in ours["variants"]) > 0
    assert json.dumps(ours) == json.dumps(compare(SparkEngine(spark), tmp_path).to_json())
    other = compare(SmallEngine(), tmp_path, "kafka-2.7").to_json()
    assert json.dumps(other) == json.dumps(compare(SparkEngine(spark), tmp_path, "kafka-2.7").to_json())


def test_a_full_disk_is_told_and_what_was_stored_stays(
    spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, left = chunks.write_whole, [1] * (2 * len(chunks.SCHEMAS) - 1)

    def write_some(content: bytes, path: Path) -> None:
        if not left:
            raise OSError(errno.ENOSPC, "No space left on device")
        left.pop()
        write(content, path)

    monkeypatch.setattr(chunks, "write_whole", write_some)
    monkeypatch.setattr("tidemark.pipeline.engines.delivery.THREADS", 1)
    with pytest.raises(CampaignFailedError, match=r"^The disk is full .* make room"):
        run_campaign(spec, tmp_path, chunk_size=5, console=quiet(), simulate=simulate)
    monkeypatch.undo()

    done = list((tmp_path / "chunks").rglob("*.json"))
    assert len(done) == 1
    before = done[0].stat().st_mtime_ns
    assert run_campaign(spec, tmp_path, console=quiet(), simulate=simulate).runs == 24
    assert done[0].stat().st_mtime_ns == before


def test_a_folder_that_cannot_be_written_is_told(
    spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(content: bytes, path: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(chunks, "write_whole", refuse)
    with pytest.raises(CampaignFailedError, match=r"cannot be written: .*Permission denied"):
        run_campaign(spec, tmp_path, chunk_size=5, console=quiet(), simulate=simulate)


ENDLESS = """
import os, sys, time
from pathlib import Path
from tidemark.pipeline.campaign.campaign import run_campaign
from tidemark.pipeline.runs.campaign_spec import CampaignSpec

def simulate(spec, variant, index):
    Path(sys.argv[1], f"{os.getpid()}.pid").touch()
    time.sleep(600)

run_campaign(CampaignSpec("demo", ("kafka-0.10",), plans=8, seed=1), Path(sys.argv[1], "demo"), chunk_size=1, simulate=simulate)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_nobody_outlives_the_driver(number: int, tmp_path: Path) -> None:
    def others() -> list[int]:
        return [int(path.stem) for path in tmp_path.glob("*.pid")]

    with subprocess.Popen([sys.executable, "-c", ENDLESS, str(tmp_path)], stderr=subprocess.DEVNULL) as driver:
        try:
            wait_until(lambda: len(others()) > 0)
            driver.send_signal(number)
            driver.wait(60)
        finally:
            driver.kill()
    wait_until(lambda: not any(map(is_there, others())))


def wait_until(so: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not so():
        assert time.monotonic() < end
        time.sleep(0.02)


def is_there(process: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def test_a_damaged_table_is_named(spec: CampaignSpec, simulate: Callable[..., Any], tmp_path: Path) -> None:
    run_campaign(spec, tmp_path, chunk_size=12, console=quiet(), simulate=simulate)
    file = chunk_file(tmp_path, "anomalies", spec.name, OLD, 0)
    file.write_bytes(file.read_bytes()[:-9])

    with pytest.raises(DamagedTableError, match=r"its file of `anomalies` has another size"):
        compare(SmallEngine(), tmp_path)


def test_a_question_without_tables_is_one_sentence() -> None:
    with pytest.raises(UnreadableError, match=r"^The campaign's tables could not be read: .*anomalies does not exist"):
        found_in_tables(SmallEngine(), (OLD,), OLD, (OLD,), 0)


def test_as_few_processes_as_there_is_work_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(64))
    with here._pool(None, 3) as pool:  # type: ignore[arg-type]
        assert pool._max_workers == 3  # type: ignore[attr-defined]
