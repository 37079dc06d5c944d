"""With Spark or without: runs are carried out, and tables read, without it as long as they are few and nobody asks for it.

Spark reads tables on the cluster's workers if they see the folder, else on this machine's cores.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tidemark.pipeline.engines.small_engine import SmallEngine
from tidemark.pipeline.engines.spark_engine import SparkEngine
from tidemark.pipeline.folder.manifest import Manifest

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    from tidemark.pipeline.engines.engine import Engine

MOST_RUNS_WITHOUT_SPARK: Final = 1000
"""So many runs take two cores less time than Spark takes to start, and to compare them."""
QUESTIONS_A_CORE = 2


def does_without_spark(master: str | None, runs: int) -> bool:
    """Whether nobody asked for Spark, and it would take longer to start than so many runs take.

    Args:
        master: Spark's master URL, if somebody asked for one.
        runs: those that are to be carried out, or read. So the last few of a large campaign are carried out without Spark, and
            compared with it.
    """
    return master is None and runs <= MOST_RUNS_WITHOUT_SPARK


def reading_session(master: str | None, *folders: Path, java_options: str = "") -> SparkSession:
    """A session that can read these folders; the cluster's is ended if it cannot.

    Args:
        master: Spark's master URL, `None` for this machine's cores.
        folders: The campaigns'.
        java_options: More options for the driver's JVM, see `spark_session`.

    Raises:
        JavaNotFoundError: There is no Java for Spark.
    """
    from tidemark.pipeline.engines.session import is_local, spark_session

    session = spark_session(master, java_options=java_options)
    context = session.sparkContext
    if is_local(str(context.master)) or _seen_by_all(context, folders):
        return session
    session.stop()
    return spark_session()


def reading_engine(master: str | None, folder: Path) -> Engine:
    """One without Spark where that is enough, else Spark.

    Raises:
        JavaNotFoundError: There is no Java for Spark.
    """
    return small_engine(master, folder) or SparkEngine(reading_session(master, folder))


def small_engine(master: str | None, folder: Path) -> SmallEngine | None:
    """What answers without Spark, if nobody asked for Spark and the campaign has few runs."""
    manifest = Manifest.read(folder) if master is None else None
    if manifest is None or not does_without_spark(master, manifest.spec.plans * len(manifest.spec.variants)):
        return None
    return SmallEngine()


def _seen_by_all(context: SparkContext, folders: Iterable[Path]) -> bool:
    """Whether each task that is asked sees the very folders, not copies or empty ones of the same name."""
    from py4j.protocol import Py4JJavaError

    with ExitStack() as signs:
        try:
            paths = [str(signs.enter_context(_sign(folder.resolve()))) for folder in folders]
        except OSError:  # read only
            return False

        def look(_: Iterable[int]) -> Iterator[bool]:
            yield all(Path(path).exists() for path in paths)

        count = max(2, context.defaultParallelism * QUESTIONS_A_CORE)
        try:
            return all(context.parallelize(range(count), count).mapPartitions(look).collect())
        except Py4JJavaError:  # workers whose Python is not ours have not seen it either
            return False


@contextmanager
def _sign(folder: Path) -> Iterator[Path]:
    """A file of a name that no other folder has, while it is asked for."""
    path = folder / f".seen-{uuid.uuid4().hex}"
    path.touch()
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
