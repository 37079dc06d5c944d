"""The one Spark session of a process, with the settings that Tidemark needs."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
import zipfile
from functools import cache
from pathlib import Path

from pyspark.sql import SparkSession

from pipeline.code import ROOMS, ROOT
from pipeline.java import ensure_java_home

LOCAL_MASTER = "local[*,3]"
"""Every core, and three attempts at a task: a killed worker costs one chunk's work, not the campaign."""

QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""JVM options for short sessions such as tests: faster to start, slower in the long run."""
FEW_RUNS = 50_000
"""A campaign of so many runs is worth a quick start, and its tables no compiled queries."""


def spark_session(master: str | None = None, *, java_options: str = "") -> SparkSession:
    """The process's Spark session; the first call starts it and decides its settings.

    Args:
        master: Spark's master URL, `None` for this machine's cores.
        java_options: More options for the driver's JVM, such as `QUICK_START`.

    Returns:
        A session whose workers can import our packages.
    """
    ensure_java_home()
    master = master or LOCAL_MASTER
    local = master.startswith("local")
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    log4j = Path(__file__).with_name("log4j2.properties").as_uri()
    builder = (
        SparkSession.builder.master(master)
        .appName("tidemark")
        .config("spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile={log4j} {java_options}".strip())
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.python.unix.domain.socket.enabled", "true")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "50000")
        .config("spark.sql.session.timeZone", "UTC")
        # A cancelled campaign does not wait for the runs under way.
        .config("spark.python.task.killTimeout", "100ms")
        # A variant called "1" stays a string.
        .config("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
    )
    if local:
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
        builder = (
            builder.config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.sql.shuffle.partitions", "4")
            .config("spark.executorEnv.PYTHONPATH", str(ROOT))
        )
    session = builder.getOrCreate()
    if not local:
        session.sparkContext.addPyFile(str(_packages_zip()))
    return session


@cache
def _packages_zip() -> Path:
    """Our packages as one zip that workers elsewhere can import from; one for the process, as Spark refuses a second path."""
    place = tempfile.mkdtemp(prefix="tidemark-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    path = Path(place) / "tidemark-packages.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for room in ROOMS:
            for source in sorted((ROOT / room).rglob("*.py")):
                archive.write(source, source.relative_to(ROOT).as_posix())
    return path
