"""What a program syncs, entered into the ledger before it is carried out: the program is under a filter that tells of it."""

from __future__ import annotations

import os
import struct
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tidemark.nodes.admin.seccomp import Asked, Call, Listener

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.nodes.keeper.sync_ledger import SyncLedger

O_DSYNC, O_TMPFILE = 0x1000, 0x400000
RWF_DSYNC, RWF_SYNC = 2, 4
MS_SYNC = 4
AT_FDCWD = -100
MOVES = ("rename", "renameat", "renameat2", "unlink", "unlinkat")
"""Calls after which a file that is written through could not be found any more."""
ASKED = (
    *(Asked(name) for name in MOVES),
    *(Asked(name) for name in ("fsync", "fdatasync", "sync", "syncfs", "openat2")),
    Asked("msync", 2, MS_SYNC),
    Asked("open", 1, O_DSYNC),
    Asked("openat", 2, O_DSYNC),
    Asked("pwritev2", 5, RWF_DSYNC | RWF_SYNC),
)
"""O_SYNC has the bit of O_DSYNC."""
REFUSED = ("io_uring_setup", "io_setup")
"""Rings and AIO contexts can sync without a system call that says so; their users take plain calls then, or say what they lack."""
AT_ONCE = 8
LONGEST_PATH = PAGE = 4096


class Syncs:
    """Follows one life of a program.

    Args:
        listener: for the calls of the filter that the program is under.
        ledger: told of every sync before it is carried out.
        slow_us: how much longer every sync takes, now.
    """

    def __init__(self, listener: Listener, ledger: SyncLedger, slow_us: Callable[[], int]) -> None:
        """Begin."""
        self._listener, self._ledger, self._slow_us = listener, ledger, slow_us
        self._calls = ThreadPoolExecutor(AT_ONCE)
        self._asks = threading.Thread(target=self._answer_all, name="answers system calls", daemon=True)
        self._asks.start()

    def close(self) -> None:
        """Once the program is gone: when all is entered."""
        self._asks.join(1.0)  # a child of the program may live on
        self._calls.shutdown()

    def _answer_all(self) -> None:
        while (call := self._listener.next()) is not None:
            self._calls.submit(self._answer, call)
        self._listener.close()

    def _answer(self, call: Call) -> None:
        try:
            if (slow_us := self._slow_us()) and call.name in ("fsync", "fdatasync", "sync", "syncfs", "msync"):
                time.sleep(slow_us / 1e6)
            self._enter(call)
        finally:
            self._listener.go_on(call)

    def _enter(self, call: Call) -> None:
        """Write a call into the ledger; it waits meanwhile."""
        if call.name in ("sync", "syncfs"):
            self._ledger.everything()
        elif call.name in ("fsync", "fdatasync"):
            if (path := self._path_of(call)) is not None:
                self._ledger.synced(path)
        elif call.name == "msync":
            begin, length, _ = call.arguments[:3]
            for path in _mapped(call.thread, begin, begin + length):
                self._ledger.synced(path)
        elif call.name == "pwritev2":
            if (path := self._path_of(call)) is not None:
                self._ledger.written_through(path)
        elif call.name in MOVES:
            self._ledger.find_through()
        else:
            self._enter_open(call)

    def _enter_open(self, call: Call) -> None:
        flags = self._flags_of(call)
        if flags & O_DSYNC and flags & O_TMPFILE == O_TMPFILE:
            self._ledger.unsure("a file without a name was opened with O_SYNC")
        elif flags & O_DSYNC and (path := self._opened(call)) is not None:
            self._ledger.written_through(path)

    @staticmethod
    def _flags_of(call: Call) -> int:
        if call.name == "openat2":
            with suppress(OSError, struct.error):
                (flags,) = struct.unpack("Q", _memory(call.thread, call.arguments[2], 8, text=False))
                return int(flags)
            return 0
        return call.arguments[1 if call.name == "open" else 2]

    def _path_of(self, call: Call) -> Path | None:
        with suppress(OSError):
            path = Path(f"/proc/{call.thread}/fd/{call.arguments[0]}").readlink()
            if self._listener.is_there(call) and path.is_absolute():
                return path
        return None

    def _opened(self, call: Call) -> Path | None:
        """The file that is opened, where it can be told."""
        if call.name == "open":
            directory, name = AT_FDCWD, call.arguments[0]
        else:
            directory, name = struct.unpack("i", struct.pack("I", call.arguments[0] & 0xFFFFFFFF))[0], call.arguments[1]
        with suppress(OSError):
            text = _memory(call.thread, name, LONGEST_PATH).split(b"\0")[0].decode(errors="surrogateescape")
            under = f"/proc/{call.thread}/" + ("cwd" if directory == AT_FDCWD else f"fd/{directory}")
            path = Path(under).readlink() / text
            if self._listener.is_there(call):
                return Path(os.path.realpath(path))
        return None


def _memory(thread: int, at: int, most: int, *, text: bool = True) -> bytes:
    """What a process has at an address; of a text not much more than that."""
    found = b""
    with Path(f"/proc/{thread}/mem").open("rb", buffering=0) as memory:
        while len(found) < most and not (text and b"\0" in found):
            memory.seek(at + len(found))
            with_page = PAGE - (at + len(found)) % PAGE
            found += memory.read(min(most - len(found), with_page))
    return found


def _mapped(thread: int, begin: int, end: int) -> list[Path]:
    """The files that a process has mapped between two addresses."""
    found = []
    with suppress(OSError):
        for line in Path(f"/proc/{thread}/maps").read_text().splitlines():
            fields = line.split(maxsplit=5)
            low, _, high = fields[0].partition("-")
            if len(fields) > 5 and fields[5].startswith("/") and int(low, 16) < end and int(high, 16) > begin:
                found.append(Path(fields[5]))
    return found
