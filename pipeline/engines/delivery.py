"""Finished chunks on their way from the workers to the campaign's folder, which the driver alone writes."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

from tidemark.pipeline.chunks.chunk import FinishedChunk
from tidemark.pipeline.folder.record import ChunkSummary

THREADS = 4  # a chunk's five files are synced, and a disk syncs several as fast as one
THREADS_THAT_UPLOAD = 16  # an upload waits for the network most of its time
WAITING = 16
"""So many chunks wait for the disk at most; then Spark waits."""


class Delivery:
    """Takes finished chunks and stores them, in threads of its own; to be entered as a context.

    Args:
        folder: The campaign's folder. campaign: Its name.
        told: Gets the summary of each chunk that is stored.
        give_up: Called once if something cannot be stored; what comes after that is dropped.
        keep: Puts a chunk that is stored in the folder where it is to be kept besides, in a store say.
    """

    def __init__(
        self,
        folder: Path,
        campaign: str,
        told: list[ChunkSummary],
        give_up: Callable[[], object] = lambda: None,
        keep: Callable[[FinishedChunk], object] | None = None,
    ) -> None:
        self._folder = folder
        self._keep = keep
        self._campaign = campaign
        self._told = told
        self._give_up = give_up
        self._failures: list[Exception] = []
        self._lock = threading.Lock()
        self._waiting: queue.Queue[FinishedChunk | None] = queue.Queue(WAITING)
        threads = THREADS if keep is None else THREADS_THAT_UPLOAD
        self._threads = [threading.Thread(target=self._store, name="delivery", daemon=True) for _ in range(threads)]

    def take(self, chunks: Sequence[FinishedChunk]) -> None:
        """Have them stored; waits where too many wait already."""
        for chunk in chunks:
            self._waiting.put(chunk)

    def __enter__(self) -> Self:
        """Begin."""
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *ended: object) -> None:
        """Wait until all that was taken is stored.

        Raises:
            OSError: Something could not be stored, or kept; that is why, whatever the work ended with.
        """
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join()
        if self._failures:
            raise self._failures[0]

    def _store(self) -> None:
        while (chunk := self._waiting.get()) is not None:
            if self._failures:
                continue
            try:
                chunk.store(self._folder, self._campaign)
                if self._keep is not None:
                    self._keep(chunk)
                self._told.append(chunk.record.summary)
            except Exception as failure:  # noqa: BLE001  told to who waits
                with self._lock:
                    self._failures.append(failure)
                    first = len(self._failures) == 1
                if first:
                    self._give_up()
