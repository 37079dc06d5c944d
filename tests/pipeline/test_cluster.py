"""A standalone cluster of two workers gives the tables of one machine, whoever is killed meanwhile."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from readers_own import readers_own_packages
from spark_cluster import SparkCluster, kill_group

from tidemark.pipeline.campaign.campaign import run_campaign
from tidemark.pipeline.folder.tables import SCHEMAS
from tidemark.pipeline.runs.campaign_spec import CampaignSpec

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PATIENCE_S = 400
SPEC = CampaignSpec("demo", ("kafka-0.10", "kafka-2.7"), plans=40, seed=7)
CHUNK = 5
CHUNKS = 16
DRIVER = """
import sys
from pathlib import Path
from tidemark.pipeline.campaign.campaign import run_campaign
from tidemark.pipeline.runs.campaign_spec import CampaignSpec
spec = CampaignSpec("demo", ("kafka-0.10", "kafka-2.7"), plans=40, seed=7)
print(run_campaign(spec, Path(sys.argv[2]), master=sys.argv[1], chunk_size=5).sentences())
"""
CONF = """
spark.executor.extraJavaOptions -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
spark.speculation true
spark.speculation.interval 10ms
spark.speculation.quantile 0.1
spark.speculation.multiplier 1.01
spark.speculation.minTaskRuntime 1ms
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Its workers, like its drivers, find a reader's own packages first."""
    own = str(readers_own_packages(tmp_path_factory.mktemp("own")))
    with SparkCluster(tmp_path_factory.mktemp("cluster"), environment={"PYTHONPATH": own}) as running:
        yield running


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> dict[str, Any]:
    """The tables of an undisturbed campaign on `local[2]`."""
    folder = tmp_path_factory.mktemp("local")
    run_campaign(SPEC, folder, chunk_size=CHUNK)
    return tables(folder)


@pytest.fixture
def drive(cluster: SparkCluster, tmp_path: Path) -> Any:
    """Starts a driver for the campaign in a folder; ends it, if need be."""
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text(CONF)
    own = readers_own_packages(tmp_path / "own")
    environment = os.environ | {"PYTHONPATH": str(own), "SPARK_CONF_DIR": str(tmp_path / "conf")}
    started = []

    def drive(folder: Path) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", DRIVER, cluster.master, folder],
            env=environment,
            cwd=own,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        started.append(process)
        return process

    yield drive
    for process in started:
        kill_group(process)
        process.wait()
        process.stdout.close()


def tables(folder: Path) -> dict[str, Any]:
    """Every row of every file, in its order, without the one column that differs between repetitions."""
    return {
        f"{path.relative_to(folder)}": pq.ParquetFile(path).read().drop_columns("wall_us" if table == "runs" else [])
        for table in SCHEMAS
        for path in sorted((folder / table).rglob("*.parquet"))
    }


def records(folder: Path) -> list[Path]:
    return sorted((folder / "chunks").rglob("chunk-*.json"))


def wait_for(question: Callable[[], bool], driver: subprocess.Popen[str]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not question():
        assert time.monotonic() < until
        assert driver.poll() is None, driver.communicate()[0]
        time.sleep(0.02)


@pytest.mark.systems
def test_a_worker_killed_half_way_and_doubled_tasks_change_no_row(
    cluster: SparkCluster, drive: Callable[[Path], Any], expected: dict[str, Any], tmp_path: Path
) -> None:
    driver = drive(tmp_path / "out")
    wait_for(lambda: len(records(tmp_path / "out")) >= CHUNKS // 3, driver)
    cluster.kill_worker(0)
    said, _ = driver.communicate(timeout=PATIENCE_S)
    cluster.add_worker()

    assert "80 of 80 runs are done" in said
    assert len(records(tmp_path / "out")) == CHUNKS
    assert tables(tmp_path / "out") == expected


@pytest.mark.systems
def test_a_killed_drivers_campaign_goes_on_where_it_was(
    cluster: SparkCluster, drive: Callable[[Path], Any], expected: dict[str, Any], tmp_path: Path
) -> None:
    driver = drive(tmp_path / "out")
    wait_for(lambda: bool(records(tmp_path / "out")), driver)
    time.sleep(random.uniform(0, 1))
    kill_group(driver)
    driver.communicate()
    before = {path: path.stat().st_mtime_ns for path in records(tmp_path / "out")}

    said, _ = drive(tmp_path / "out").communicate(timeout=PATIENCE_S)

    assert "80 of 80 runs are done" in said
    assert tables(tmp_path / "out") == expected
    assert all(path.stat().st_mtime_ns == time for path, time in before.items())
