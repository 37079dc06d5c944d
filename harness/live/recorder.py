"""What the harness itself sees of a run, in memory and, line by line, in the run's folder.

The file is a readable history at any moment (docs/history.md), so that even a harness that was killed leaves one, which does not
say how many lines it must have. At the end the complete history, with the nodes' own traces in it, takes its place.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tidemark.checkers.history.history import History, NemesisOp, Op
from tidemark.checkers.history.history_file import meta_line, nemesis_line, op_line, trace_line, write_history
from tidemark.checkers.history.trace_events import TraceEvent
from tidemark.harness.runs.folder import HISTORY


class Recorder:
    """Takes client operations, nemesis operations and trace events, from any thread.

    Attributes:
        ops, nemesis, trace: what came, in the order it came.
    """

    def __init__(
        self,
        meta: dict[str, Any],
        folder: Path | None = None,
        on_nemesis: Callable[[NemesisOp], None] | None = None,
    ) -> None:
        """Begin the file with the meta line.

        Args:
            meta: what is known of the run so far.
            folder: the run's folder; nothing is written without.
            on_nemesis: told of every strike and healing, for a progress display.
        """
        self._on_nemesis = on_nemesis
        self.ops: list[Op] = []
        self.nemesis: list[NemesisOp] = []
        self.trace: list[TraceEvent] = []
        self._lock = threading.Lock()
        self._folder = folder
        self._file = None
        self._lines = 0
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = (folder / HISTORY).open("w", encoding="utf-8", newline="\n")
            self._write(meta_line(meta, None))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def op(self, op: Op) -> None:
        """Half a client operation."""
        with self._lock:
            self.ops.append(op)
            self._write(op_line(op, self._lines + 1))

    def nemesis_op(self, op: NemesisOp) -> None:
        """A strike or a healing."""
        with self._lock:
            self.nemesis.append(op)
            self._write(nemesis_line(op, self._lines + 1))
        if self._on_nemesis is not None:
            self._on_nemesis(op)

    def event(self, event: TraceEvent) -> None:
        """A trace event that the harness adds: a process it ended, what it found at the end."""
        with self._lock:
            self.trace.append(event)
            self._write(trace_line(event, self._lines + 1))

    def replace(self, history: History) -> None:
        """Put the complete history in the file's place."""
        self.close()
        if self._folder is not None:
            write_history(history, self._folder / HISTORY)

    def close(self) -> None:
        """Close the file; what comes later is only kept in memory."""
        with self._lock:
            file, self._file = self._file, None
            if file is not None:
                file.close()

    def _write(self, line: str) -> None:
        self._lines += 1
        if self._file is not None:
            self._file.write(line + "\n")
            self._file.flush()
