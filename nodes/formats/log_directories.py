"""Where the logs of a Kafka broker lie that has several log directories (``log.dirs``, KIP-112): each replica in one of them.

A replica that is moved (KIP-113) has two logs for a while: its own, and a *future* one in the other directory, ``t-0.HASH-future``,
which copies it and in the end takes its place and name. What it replaces is called ``t-0.HASH-delete`` from then on.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

BOTH = ("first", "second")
"""What the directories of a broker that has two are called, below the one that a broker with a single one has."""
FAILED = ".failed"
"""Behind the name of what one that has failed holds; in its place lies a file."""
FAIL, MEND, EMPTY = "fail", "mend", "empty"
"""What can be done to one (:mod:`tidemark.nodes.sidecar.failed_log_directory`)."""


def log_directories(data: Path) -> tuple[Path, ...]:
    """Where the logs of a broker lie: in the two below, if they are there, else in the directory itself."""
    both = tuple(held(data / name) for name in BOTH)
    return both if all(path.is_dir() for path in both) else (data,)


def aside(directory: Path) -> Path:
    """Where what it holds lies while it has failed."""
    return directory.with_name(directory.name + FAILED)


def held(directory: Path) -> Path:
    """Where what a log directory holds lies: there, or if it has failed, beside it."""
    return aside(directory) if aside(directory).is_dir() else directory


def above(directories: Sequence[Path]) -> Path:
    """The directory whose :func:`log_directories` these are."""
    return directories[0] if len(directories) == 1 else directories[0].parent


class LogDirectories:
    """Finds the log of a replica.

    Args:
        directories: of one broker, as its ``log.dirs`` has them.
    """

    def __init__(self, directories: Sequence[Path]) -> None:
        self.all = tuple(directories)
        self._found: dict[str, Path] = {}

    def home(self, partition: str) -> Path:
        """The log directory in which its log lies, one that has failed only if no other has one; where none is, the first.

        Between the two renamings of a move both have one of that name: then it is where it was not before.
        """
        if len(self.all) == 1:
            return self.all[0]
        having = [path for path in self.all if (path / partition).is_dir()]
        having = having or [path for path in self.all if (aside(path) / partition).is_dir()]
        if len(having) > 1:
            having = [path for path in having if path != self._found.get(partition)] or having
        home = self._found[partition] = having[0] if having else self.all[0]
        return home

    def of(self, partition: str) -> Path:
        """The directory of its log; it need not be there."""
        return held(self.home(partition)) / partition

    def aside(self, partition: str) -> str:
        """The log directory that has failed and holds a log of the partition; empty if there is none."""
        return next((one.name for one in self.all if one != held(one) and (held(one) / partition).is_dir()), "")

    def other(self, partition: str) -> Path | None:
        """A log directory to move it to; None if there is only one."""
        home = self.home(partition)
        return next((path for path in self.all if path != home), None)
