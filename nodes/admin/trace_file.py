"""The trace of one node: JSON lines ``[mono_us, node, event, partition, …]`` (docs/history.md), in the order things happened.

A line reaches the file before anything that it says can leave the node, and a line that did not reach the file ends the node.
"""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

Entry: TypeAlias = tuple[Any, ...]
"""``(mono_us, node, event, partition, *fields)``. The last field of those :data:`WITH_BATCH` is the raw batch."""

WITH_BATCH = frozenset({"append", "stored"})
"""Events that tell of a batch."""
DECIDED = frozenset(
    {
        "elect",
        "isr-change",
        "reassign",
        "register",
        "fence",
        "unfence",
        "min-isr",
        "elr-switch",
        "unclean-switch",
        "voters",
    }
)
"""Events that tell what a controller has decided."""
QUORUM_DECIDED, QUORUM_ORDERED = "quorum-decided", "quorum-ordered"
"""What each of several controllers traces: a decision that is committed, with its offset and place in the metadata log, what it
is, and its fields; and an operator's order, as ``ordered``. In a history they are one controller's.
"""
OF_ITS_OWN_TIME = frozenset({QUORUM_DECIDED, QUORUM_ORDERED})
"""Events that are traced when they are known, with the earlier time at which they happened."""

_encode = json.JSONEncoder(separators=(",", ":")).encode


class Trace:
    """The trace file, and those who watch it grow.

    Attributes:
        watchers: called with the entries of a step, once they are in the file.
    """

    def __init__(self, path: Path) -> None:
        """Open for appending; processes of one node share the file.

        Raises:
            OSError: it cannot be opened.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self.watchers: list[Callable[[list[Entry]], None]] = []

    def write(self, entries: list[Entry]) -> None:
        """Add entries, in one write.

        Raises:
            OSError: the file could not take them all.
        """
        left = memoryview(b"".join([_line(entry) for entry in entries]))
        while left:
            left = left[os.write(self._file, left) :]
        self.show(entries)

    def show(self, entries: list[Entry]) -> None:
        """Give entries to those who watch, without adding them."""
        for watcher in self.watchers:
            watcher(entries)

    def begin_again(self) -> None:
        """Drop what was traced so far: somebody has it."""
        os.ftruncate(self._file, 0)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def _line(entry: Entry) -> bytes:
    if entry[2] not in WITH_BATCH:
        return (_encode(entry) + "\n").encode()
    # The batch goes around JSON's encoder, which would look at every character for something to escape.
    return _encode(entry[:-1]).encode()[:-1] + b',"' + b64encode(entry[-1]) + b'"]\n'
