"""What is asked of the tables of a small campaign, answered without Spark: by DuckDB, in this process.

There is one text of each question, Spark's SQL; sqlglot writes it as DuckDB's. Starting a JVM, and planning a dozen questions there
for the first time, takes longer than a thousand runs.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from tidemark.pipeline.folder.finished_chunks import DamagedTableError
from tidemark.pipeline.folder.found_campaign import finished_in
from tidemark.pipeline.folder.tables import SCHEMAS, chunk_file

if TYPE_CHECKING:
    from tidemark.pipeline.engines.engine import Arguments


class SmallEngine:
    """DuckDB, with the tables in memory; see :class:`~tidemark.pipeline.engines.engine.Engine`."""

    def __init__(self) -> None:
        import duckdb  # who has Spark needs neither this nor sqlglot

        self.errors = (duckdb.Error,)
        """What it raises where it cannot answer."""
        self._connection = duckdb.connect()
        self._lock = threading.Lock()  # questions are asked by several threads

    def rows(self, text: str, args: Arguments = None) -> list[dict[str, Any]]:
        """The rows that answer it."""
        with self._lock:
            answer = self._connection.execute(*_translated(text, args))
            names = [column[0] for column in answer.description]
            return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]

    def name(self, name: str, text: str, args: Arguments = None) -> None:
        """A table: it is worked out now."""
        translated, named = _translated(text, args)
        with self._lock:
            self._connection.execute(f'CREATE OR REPLACE TEMP TABLE "{name}" AS {translated}', named)

    @contextmanager
    def kept(self, name: str, text: str, args: Arguments = None) -> Iterator[None]:
        """As any."""
        self.name(name, text, args)
        yield

    def about(self, _runs: int) -> AbstractContextManager[None]:
        """They are few."""
        return nullcontext()

    def load(self, folder: Path, names: tuple[str, ...]) -> None:
        """All of them, at once."""
        manifest, stock = finished_in(folder, names)
        for name in names:
            self.take(name, chunk_table(folder, manifest.spec.name, sorted(stock.finished), name))

    def take(self, name: str, table: pa.Table) -> None:
        """Have a table under a name."""
        self._connection.register(name, table)


def _translated(text: str, args: Arguments) -> tuple[str, dict[str, Any] | None]:
    """A question in DuckDB's SQL, with the parameters that it has."""
    import sqlglot

    (translated,) = sqlglot.transpile(text, read="spark", write="duckdb")
    named = {name: value for name, value in (args or {}).items() if f"${name}" in translated}
    return translated, named or None


def chunk_table(folder: Path, campaign: str, chunks: Sequence[tuple[str, int]], name: str) -> pa.Table:
    """The rows that some chunks, (variant, number), have in a table, with the column `variant`.

    Raises:
        DamagedTableError: A file is not what the campaign wrote.
    """
    parts = []
    for variant, number in chunks:
        file = chunk_file(folder, name, campaign, variant, number)
        try:
            rows = pq.read_table(file, columns=SCHEMAS[name].names, partitioning=None)
        except (pa.ArrowException, OSError) as error:
            raise DamagedTableError(f"{file} cannot be read ({str(error).splitlines()[0]}).") from None
        parts.append(
            rows.cast(SCHEMAS[name]).append_column("variant", pa.array([variant] * rows.num_rows, pa.string()))
        )
    return pa.concat_tables(parts)
