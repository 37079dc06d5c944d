"""A campaign's finished chunks as a stream: Spark Structured Streaming over the folder of their records.

A record appears when all files of its chunk are there (`tidemark.pipeline.folder.record`), so each batch of new records is a
set of chunks to be counted, each once. They are counted in Spark SQL, by the questions of the comparison.
"""

from __future__ import annotations

import re
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from tidemark.pipeline.engines.spark_engine import SparkEngine
from tidemark.pipeline.engines.spark_tables import table_of
from tidemark.pipeline.folder.finished_chunks import Stock
from tidemark.pipeline.folder.record import ChunkSummary
from tidemark.pipeline.folder.tables import RECORDS
from tidemark.pipeline.watch.watch_count import counted
from tidemark.pipeline.watch.watch_tally import Batch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

    from tidemark.pipeline.folder.manifest import Manifest

SCHEMA: Final = """identity STRING, summary STRUCT<variant: STRING, number: INT, runs: INT, violating: INT, permitting: INT,
    unknown: INT, errors: INT>"""
OLDEST: Final = "36500d"
"""A record is never too old to be counted."""
_GLOB: Final = re.compile(r"[\\\[\]{}*?^,]")


class ChunkStream:
    """Tells of finished chunks, those that are there at the beginning first. To be entered as a context.

    Args:
        spark: The session to be used.
        folder: The campaign's.
        manifest: Its manifest; records of another campaign are passed over.
        hear: Is given each batch, in a thread of Spark's.
        seconds: How often new chunks are looked for.

    Attributes:
        failure: what went wrong, after which nothing more is told.
    """

    def __init__(
        self, spark: SparkSession, folder: Path, manifest: Manifest, hear: Callable[[Batch], None], seconds: float
    ) -> None:
        self._spark = spark.newSession()  # views of its own
        self._folder, self._manifest, self._hear, self._seconds = folder, manifest, hear, seconds
        self.failure: Exception | None = None

    def __enter__(self) -> Self:
        """Begin to listen."""
        self._place = tempfile.TemporaryDirectory(prefix="tidemark-watch-", ignore_cleanup_errors=True)
        records = self._folder / RECORDS
        if _GLOB.search(
            str(records)
        ):  # Spark takes the path for a pattern, and escaping does not get through all of it
            link = Path(self._place.name) / RECORDS
            link.symlink_to(records, target_is_directory=True)
            records = link
        found = (
            self._spark.readStream.schema(f"{SCHEMA}, campaign STRING, variant STRING")
            .option("maxFileAge", OLDEST)
            .json(str(records))
            .selectExpr("identity", "summary.*", "unix_micros(_metadata.file_modification_time) AS at")
        )
        self._query = (
            found.writeStream.foreachBatch(self._batch)
            .option("checkpointLocation", str(Path(self._place.name) / "checkpoint"))
            .trigger(processingTime=f"{round(1000 * self._seconds)} milliseconds")
            .start()
        )
        threading.Thread(target=self._await, name="watch", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Listen no more."""
        with suppress(
            Exception
        ):  # Spark may be gone, or have been interrupted in the middle of a word: then it has ended
            self._query.stop()
        self._place.cleanup()

    @property
    def is_busy(self) -> bool:
        """Whether chunks are being looked for or counted just now."""
        return bool(self._query.status["isTriggerActive"])

    def _await(self) -> None:
        """The stream ends by itself only if something went wrong that is none of our own."""
        try:
            self._query.awaitTermination()
        except Exception as error:  # noqa: BLE001  handed to whoever asks
            self.failure = self.failure or error

    def _batch(self, frame: DataFrame, number: int) -> None:
        """An exception here would be printed by Spark, page for page."""
        if self.failure is not None:
            return
        try:
            mine = [row for row in frame.collect() if row["identity"] == self._manifest.identity]
            if mine:
                self._hear(self._counted(mine))
        except Exception as error:  # noqa: BLE001  handed to whoever asks
            self.failure = error

    def _counted(self, rows: list[Row]) -> Batch:
        names = [field.name for field in fields(ChunkSummary)]
        chunks = [(ChunkSummary(**{name: row[name] for name in names}), row["at"] / 1e6) for row in rows]
        stock = Stock({(chunk.variant, chunk.number): chunk for chunk, _ in chunks}, (), ())
        spark = self._spark
        runs, anomalies = (table_of(spark, self._folder, self._manifest, stock, name) for name in ("runs", "anomalies"))
        runs = runs.selectExpr("*", "unix_micros(_metadata.file_modification_time) AS at")
        runs.createOrReplaceTempView("runs")
        anomalies.createOrReplaceTempView("anomalies")
        return counted(SparkEngine(spark), chunks)
