"""What a broker that is set to flush has flushed: noted at every fsync of a segment, before it is carried out.

Kafka notes once a minute how far its logs are flushed (``recovery-point-offset-checkpoint``). That is enough for a broker as it
comes, which leaves flushing to the operating system. One that flushes after so many messages, or so much time, answers for what it
has flushed at once, and a power loss may not take that. So such a JVM is put under a filter that tells of its calls
(:mod:`tidemark.nodes.admin.seccomp`), and a note is kept in the log directory: a line for each call, ``BYTES PATH``, the path
below that directory. The last line of a path counts.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from tidemark.nodes.admin.seccomp import (
    Asked,
    Call,
    Listener,
    UnknownMachineError,
    filter_of,
    put_under,
    this_machine,
)
from tidemark.nodes.formats.segment import base_of

NOTE = ".tidemark-synced"
"""In the log directory; Kafka looks at directories only."""
FLUSHES = ("log.flush.interval.messages", "log.flush.interval.ms")
"""Settings without which Kafka leaves flushing to the operating system."""
ASKED = (Asked("fsync"), Asked("fdatasync"))


def flushes(properties: Mapping[str, str]) -> bool:
    """Whether a broker with this ``server.properties`` flushes what it appends by itself."""
    return any(key in properties for key in FLUSHES)


def synced_sizes(data: Path) -> dict[Path, int]:
    """Segment → so many bytes of it are flushed for certain, as far as that was noted. A line that was not finished is none.

    Args:
        data: the broker's log directory.

    Raises:
        OSError: the note cannot be read.
    """
    note = data / NOTE
    if not note.exists():
        return {}
    *lines, _ = note.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
    found = {}
    for line in lines:
        size, _, path = line.partition(" ")
        found[data / path] = int(size)
    return found


class SyncedSegments:
    """Keeps the note of one life of a broker.

    Args:
        data: the broker's log directory.

    Raises:
        OSError: the machine's system calls are not known.
    """

    def __init__(self, data: Path) -> None:
        self._data = data.resolve()
        try:
            self._machine = this_machine()
        except UnknownMachineError as error:
            raise OSError(str(error)) from None
        self._filter = filter_of(self._machine, ASKED, ())
        self._here, self._there = socket.socketpair()

    def around(self, before: Callable[[], None]) -> Callable[[], None]:
        """What a child does before it becomes the JVM: this, and then it goes under the filter."""

        def become() -> None:
            before()
            put_under(self._filter, self._machine.calls["seccomp"], self._there)

        return become

    def begin(self) -> None:
        """The child is there: take its calls from now on, in a thread that ends with it.

        Raises:
            OSError: the kernel refused the filter.
        """
        self._there.close()
        with self._here:
            listener = Listener.of_child(self._here, self._machine)
        threading.Thread(target=self._answer_all, args=(listener,), name="answers syncs", daemon=True).start()

    def close(self) -> None:
        """There is no child."""
        self._here.close()
        self._there.close()

    def _answer_all(self, listener: Listener) -> None:
        while (call := listener.next()) is not None:
            try:
                self._note(call, listener)
            finally:
                listener.go_on(call)
        listener.close()

    def _note(self, call: Call, listener: Listener) -> None:
        with suppress(OSError):  # its file is gone, or the disk is full: then there is no proof that it is flushed
            place = Path(f"/proc/{call.thread}/fd/{call.arguments[0]}")
            path, size = place.readlink(), place.stat().st_size
            if base_of(path.name) is None or not path.is_relative_to(self._data) or not listener.is_there(call):
                return
            with (self._data / NOTE).open("a", encoding="utf-8", errors="surrogateescape") as note:
                note.write(f"{size} {path.relative_to(self._data)}\n")
