"""The one Spark session of a process, with the settings that Tidemark needs."""

from __future__ import annotations

import atexit
import logging
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
from pyspark import SparkFiles
from pyspark.sql import SparkSession

from tidemark.pipeline.engines.class_archive import WRITES, archive_options
from tidemark.pipeline.engines.code_archive import code_archive
from tidemark.pipeline.engines.java import ensure_java_home

if TYPE_CHECKING:
    from pyspark import SparkContext

LOCAL_MASTER = "local[*,3]"
"""Every core, and three attempts at a task: a killed worker costs one chunk's work, not the campaign."""

QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m"
"""JVM options for short sessions such as tests: faster to start, slower in the long run. One compiler alone would have 48 MB
for what it compiles; where a later question finds no room there, Spark ends for good."""


def spark_session(master: str | None = None, *, java_options: str = "", make_archive: bool = False) -> SparkSession:
    """The process's Spark session; the first call starts it and decides its settings.

    Args:
        master: Spark's master URL, `None` for this machine's cores.
        java_options: More options for the driver's JVM, such as `QUICK_START`.
        make_archive: Let it write the archive of classes from which later ones start, see `archive_options`.

    Returns:
        A session whose workers can import our packages.
    """
    home = ensure_java_home()
    archive = archive_options(home, Path(pyspark.__file__).parent, pyspark.__version__, make=make_archive)
    master = master or LOCAL_MASTER
    local = is_local(master)
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    if local:
        os.environ["PYSPARK_PYTHON"] = sys.executable
    else:  # which may be none of this machine's
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    log4j = Path(__file__).with_name("log4j2.properties").as_uri()
    builder = (
        SparkSession.builder.master(master)
        .appName("tidemark")
        .config("spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile={log4j} {java_options} {archive}".strip())
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.python.unix.domain.socket.enabled", "true")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "50000")
        .config("spark.sql.session.timeZone", "UTC")
        # Finished chunks come to the driver, which stores each as it comes: how much that is in all does not matter.
        .config("spark.driver.maxResultSize", "0")
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
            # Of many files each would be looked up by a task of its own, which costs twenty times as much as the look.
            .config("spark.sql.sources.parallelPartitionDiscovery.parallelism", "4")
            .config("spark.python.daemon.module", "tidemark.pipeline.engines.spark_daemon")
        )
    logging.getLogger().addFilter(_is_news)
    session = builder.getOrCreate()
    _leave_no_socket(session.sparkContext)
    if WRITES in archive:
        atexit.register(_let_go, session)
    if not local:
        _send_code(session.sparkContext)
    return session


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a person should read it: not py4j's traces of a Ctrl-C and what comes of it, for these are raised as well."""
    return record.msg not in ("KeyboardInterrupt while sending command.", "Exception while sending command.")


def _let_go(session: SparkSession) -> None:
    """The JVM will need some seconds more than this process, and shall hold no pipe open."""
    with suppress(Exception):  # it may have ended
        system = session.sparkContext._gateway.jvm.java.lang.System  # type: ignore[union-attr]  # noqa: SLF001
        system.out.close()
        system.err.close()


def is_local(master: str) -> bool:
    """Whether work is done in this machine's processes, and not on a cluster."""
    return master.startswith("local")


def _leave_no_socket(context: SparkContext) -> None:
    """All else that Spark makes in the folder for temporary files goes with its JVM; this is Python's."""
    address = context._accumulatorServer.server_address  # noqa: SLF001  there is no other way to its name
    if isinstance(address, str):
        atexit.register(Path(address).unlink, missing_ok=True)


def _send_code(context: SparkContext) -> None:
    """Workers elsewhere get our packages with the job. The zip lies in Spark's own folder, which goes when Spark ends."""
    name, content = code_archive()
    path = Path(SparkFiles.getRootDirectory(), "sent", name)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    context.addPyFile(str(path))
