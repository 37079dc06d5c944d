"""Spark as an engine, on a cluster or on this machine's cores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidemark.pipeline.engines.spark_tables import QUICK_START_RUNS, campaign_tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidemark.pipeline.engines.engine import Arguments

QUICK = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
}
"""Settings for tables of a few runs: queries are interpreted, not compiled, and not planned again half-way."""


class SparkEngine:
    """A session of Spark's; see :class:`~tidemark.pipeline.engines.engine.Engine`."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """Of Spark itself, and of the way to its JVM."""
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        return PySparkException, Py4JError

    def load(self, folder: Path, names: tuple[str, ...]) -> None:
        """Spark reads the files when it is asked."""
        for name, table in campaign_tables(self._session, folder, names).items():
            table.createOrReplaceTempView(name)

    def rows(self, text: str, args: Arguments = None) -> list[Any]:
        """Brought to the driver."""
        found: list[Any] = self._session.sql(text, args=dict(args or {})).collect()
        return found

    def name(self, name: str, text: str, args: Arguments = None) -> None:
        """A view: worked out whenever a question names it."""
        self._session.sql(text, args=dict(args or {})).createOrReplaceTempView(name)

    @contextmanager
    def kept(self, name: str, text: str, args: Arguments = None) -> Iterator[None]:
        """In Spark's cache."""
        self._session.sql(text, args=dict(args or {})).cache().createOrReplaceTempView(name)
        try:
            yield
        finally:
            self._session.catalog.uncacheTable(name)

    @contextmanager
    def about(self, runs: int) -> Iterator[None]:
        """Questions about few runs are asked with the settings `QUICK`, and others with the session's own."""
        settings = QUICK if runs <= QUICK_START_RUNS else {}
        conf = self._session.conf
        before = {name: conf.get(name) for name in settings}
        for name, value in settings.items():
            conf.set(name, value)
        try:
            yield
        finally:
            for name, was in before.items():
                if was is not None:
                    conf.set(name, was)
