"""A cluster of containers, each with a file system of its own, and nothing of ours in any of them."""

import json
import os
import re
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from missing import skip_without

from tidemark.harness.machines.base_image import base_image
from tidemark.harness.machines.errors import ImageError
from tidemark.harness.machines.image_build import build, name_of, one_at_a_time, recipe_files
from tidemark.harness.machines.owner import Owner
from tidemark.pipeline.chunks.chunk import Task, run_chunk
from tidemark.pipeline.folder.code_digest import ROOT
from tidemark.pipeline.folder.layout import Layout, Stretch
from tidemark.pipeline.folder.tables import SCHEMAS
from tidemark.pipeline.runs.campaign_spec import CampaignSpec
from tidemark.pipeline.runs.simulate import simulate

pytestmark = [pytest.mark.docker, pytest.mark.spark, pytest.mark.slow]

RECIPE = ROOT / "docker" / "spark"
COMPOSE = (RECIPE / "compose.yaml").read_text()
TAG = "tidemark/spark:machine"
PATIENCE_S = 400
OLD, NEW = "kafka-0.10", "kafka-2.7"
PLANS, CHUNK = 30, 5


@pytest.fixture(scope="module")
def machine(engine: Any) -> str:
    """The image's stage without packages of PyPI, which are this environment's: half a gigabyte need not be copied."""
    try:
        with one_at_a_time():
            below = base_image(engine, None, lambda sentence: None)
            arguments = {"BASE_IMAGE": name_of(below)}
            built = build(engine, recipe_files(RECIPE), arguments, target="machine", tag=TAG, what="the Spark image")
    except ImageError as error:
        skip_without(f"an image for Spark's machines: {error}")
    there = run(engine, built, "-c", "import sys; print(*sys.version_info[:2])")
    if there.split() != [str(part) for part in sys.version_info[:2]]:
        skip_without(f"a base image with this Python; it has {there.strip()}")
    return built


def run(engine: Any, image: str, *words: str) -> str:
    labels = Owner.this_process().labels("probe")
    return engine.containers.run(image, [*words], entrypoint="python3", remove=True, labels=labels).decode()


@pytest.fixture
def cluster(engine: Any, machine: str) -> Any:
    """The master's address, and this machine's as the workers see it."""
    labels = Owner.this_process().labels("spark")
    name = f"tidemark-spark-{uuid.uuid4().hex[:8]}"
    packages = Path(np.__file__).parents[1]
    started = []

    def start(*command: str) -> Any:
        container = engine.containers.run(
            machine,
            [*command],
            detach=True,
            init=True,
            labels=labels,
            network=name,
            environment={"SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"},
            volumes={str(packages): {"bind": "/opt/tidemark/site-packages", "mode": "ro"}},
        )
        started.append(container)
        return container

    network = engine.networks.create(name, driver="bridge", labels=labels)
    try:
        master = start("master")
        address = said(master, r"Starting Spark master at (spark://\S+)")
        for words in re.findall(r"command: \[(worker, .*)\]", COMPOSE):
            _, _, *more = words.replace("${CORES:-1}", "1").replace('"', "").split(", ")
            said(start("worker", address, *more), "(Successfully registered)")
        network.reload()
        yield address, network.attrs["IPAM"]["Config"][0]["Gateway"]
    finally:
        for container in started:
            container.remove(force=True)
        network.remove()


def said(container: Any, pattern: str) -> str:
    until = time.monotonic() + PATIENCE_S
    while not (found := re.search(pattern, log := container.logs().decode())):
        container.reload()
        assert container.status in {"created", "running"}, log
        assert time.monotonic() < until, log
        time.sleep(0.2)
    return found[1]


def tables(folder: Path) -> dict[str, Any]:
    return {
        f"{path.relative_to(folder)}": pq.ParquetFile(path).read().drop_columns("wall_us" if table == "runs" else [])
        for table in SCHEMAS
        for path in sorted((folder / table).rglob("*.parquet"))
    }


@pytest.mark.systems
def test_workers_that_share_no_folder_give_the_tables_of_one_process(cluster: tuple[str, str], tmp_path: Path) -> None:
    master, here = cluster
    there, alone = tmp_path / "campaign", tmp_path / "alone"
    words = [
        "compare",
        "--variants",
        f"{OLD},{NEW}",
        "--plans",
        str(PLANS),
        "--seed",
        "7",
        "--chunk",
        str(CHUNK),
        "--json",
    ]

    done = subprocess.run(
        [sys.executable, "-c", "from tidemark.cli import main; main()", *words, "--master", master, "--out", there],
        env=os.environ | {"PYTHONPATH": str(ROOT), "SPARK_LOCAL_IP": here, "PYSPARK_PYTHON": "python3"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    layout = Layout((OLD, NEW), (Stretch(PLANS, CHUNK),))
    spec = CampaignSpec("campaign", (OLD, NEW), plans=PLANS, seed=7)
    for number in range(layout.tasks):
        run_chunk(Task(spec, alone, "alone", simulate), layout.task(number))
    assert tables(there) == tables(alone)
    compared = {variant["variant"]: variant["runs"] for variant in json.loads(done.stdout)["variants"]}
    assert compared == {OLD: PLANS, NEW: PLANS}
