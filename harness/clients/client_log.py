"""What the client libraries say, kept in a file: it is evidence, and none of it belongs on the terminal."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


class _RunTime(logging.Formatter):
    """A line is the time of the run in µs, who says it, how bad it is, and what."""

    def __init__(self, clock: Callable[[], int]) -> None:
        super().__init__()
        self._clock = clock

    def format(self, record: logging.LogRecord) -> str:
        line = f"{self._clock()} {record.name} {record.levelname.lower()} {record.getMessage()}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class ClientLog:
    """One file for all clients of a workload, or nothing at all without a path."""

    def __init__(self, path: Path | None, clock: Callable[[], int]) -> None:
        """The file is opened with the first line, and appended to; ``clock`` gives µs since the run began."""
        self._handler: logging.Handler = logging.NullHandler()
        if path is not None:
            self._handler = logging.FileHandler(path, encoding="utf-8", delay=True)
        self._handler.setFormatter(_RunTime(clock))

    def logger(self, process: str) -> logging.Logger:
        """A logger for one client. It stands outside the tree of loggers: no other handler sees its lines."""
        logger = logging.Logger(process, logging.INFO)  # noqa: LOG001 - two runs may each have a p1
        logger.addHandler(self._handler)
        return logger

    @contextmanager
    def listening(self, name: str) -> Iterator[None]:
        """For as long as it lasts, what a library writes to its own logger of that name comes here and goes nowhere else."""
        logger = logging.getLogger(name)
        logger.addHandler(self._handler)
        logger.propagate = False
        try:
            yield
        finally:
            logger.removeHandler(self._handler)
            logger.propagate = not any(isinstance(handler.formatter, _RunTime) for handler in logger.handlers)

    def close(self) -> None:
        """Close the file."""
        self._handler.close()
