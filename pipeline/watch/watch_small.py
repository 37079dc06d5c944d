"""A small campaign's finished chunks as they come, without Spark: the folder of their records is looked at again and again."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Self

import pyarrow as pa

from tidemark.pipeline.engines.small_engine import SmallEngine, chunk_table
from tidemark.pipeline.folder.finished_chunks import take_stock
from tidemark.pipeline.folder.tables import chunk_file, record_file
from tidemark.pipeline.watch.watch_count import counted
from tidemark.pipeline.watch.watch_tally import Batch

if TYPE_CHECKING:
    from tidemark.pipeline.folder.manifest import Manifest


class ChunkLook:
    """Tells of finished chunks, those that are there at the beginning first. To be entered as a context.

    Args:
        folder: The campaign's.
        manifest: Its manifest; records of another campaign are passed over.
        hear: Is given each batch, in a thread of its own.
        seconds: How often new chunks are looked for.

    Attributes:
        failure: what went wrong, after which nothing more is told.
        is_busy: whether chunks are being looked for or counted just now.
    """

    def __init__(self, folder: Path, manifest: Manifest, hear: Callable[[Batch], None], seconds: float) -> None:
        self._folder, self._manifest, self._hear, self._seconds = folder, manifest, hear, seconds
        self._told: set[tuple[str, int]] = set()
        self._enough = threading.Event()
        self.failure: Exception | None = None
        self.is_busy = True

    def __enter__(self) -> Self:
        """Begin to look."""
        threading.Thread(target=self._run, name="watch", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Look no more."""
        self._enough.set()

    def _run(self) -> None:
        try:
            while True:
                self._look()
                self.is_busy = False
                if self._enough.wait(self._seconds):
                    return
                self.is_busy = True
        except Exception as error:  # noqa: BLE001  handed to whoever asks
            self.failure = error

    def _look(self) -> None:
        finished = take_stock(self._folder, self._manifest, ()).finished
        new = [place for place in finished if place not in self._told]  # each once, whatever becomes of it
        if not new or self._enough.is_set():
            return
        name = self._manifest.spec.name
        at = [record_file(self._folder, name, *place).stat().st_mtime for place in new]
        engine = SmallEngine()
        engine.take("runs", pa.concat_tables([self._runs(place) for place in new]))
        engine.take("anomalies", chunk_table(self._folder, name, new, "anomalies"))
        batch = counted(engine, [(finished[place], when) for place, when in zip(new, at, strict=True)])
        self._told.update(new)
        self._hear(batch)

    def _runs(self, place: tuple[str, int]) -> pa.Table:
        """The rows of a chunk, with `at`."""
        name = self._manifest.spec.name
        rows = chunk_table(self._folder, name, [place], "runs")
        written = chunk_file(self._folder, "runs", name, *place).stat().st_mtime_ns // 1000
        return rows.append_column("at", pa.array([written] * rows.num_rows, pa.int64()))
