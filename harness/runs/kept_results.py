"""Results of work that takes hours and may be ended at any moment: a folder with a JSON file for each, whole or not there."""

from __future__ import annotations

import fcntl
import json
import os
import struct
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUFFIX = ".json"
LOCK = ".lock"
_FLOCK = struct.Struct("hhqqi4x")
"""fcntl(2)'s ``struct flock``: type, whence, start, length, process."""


class FolderInUseError(RuntimeError):
    """Another process writes into the folder; the message is one sentence."""


class KeptResults:
    """What is kept, by name. A name may have slashes, for folders.

    Several processes may work at the same results, each holding the folder with others and claiming what it makes.

    Args:
        folder: made when the first result is written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, name: str) -> Path:
        """Where a result is kept."""
        return self.folder / f"{name}{SUFFIX}"

    def read(self, name: str) -> dict[str, Any] | None:
        """A result; `None` if there is none, or what is there is no result, so that it has to be made again."""
        try:
            data = json.loads(self.path(name).read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        return data if isinstance(data, dict) else None

    def names(self) -> list[str]:
        """Of all results right in the folder, in order."""
        return sorted(path.name.removesuffix(SUFFIX) for path in self.folder.glob(f"[!.]*{SUFFIX}"))

    def write(self, name: str, data: dict[str, Any]) -> None:
        """Keep a result: written beside its place, synced, and renamed; a machine that loses power leaves the old one or the new.

        Raises:
            OSError: it cannot be written.
        """
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f".{path.name}.{os.getpid()}.new")
        try:
            with new.open("w", encoding="utf-8") as file:
                json.dump(data, file, indent=1, ensure_ascii=False)
                file.write("\n")
                file.flush()
                os.fsync(file.fileno())
            new.replace(path)
        finally:
            new.unlink(missing_ok=True)
        _sync(path.parent)

    @contextmanager
    def held(self, *, alone: bool) -> Iterator[None]:
        """While it lasts, nobody else writes here, or only those who do not hold it alone either. The system lets go of it however
        this process ends.

        Raises:
            FolderInUseError: somebody does, or holds it alone.
            OSError: the folder cannot be made or written.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / LOCK).open("a") as file:
            try:
                fcntl.flock(file, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
            except BlockingIOError:
                raise FolderInUseError(f"another tidemark writes into {self.folder}") from None
            yield

    @contextmanager
    def claimed(self, name: str) -> Iterator[bool]:
        """Whether a result is ours to make; while it lasts nobody else has it.

        Raises:
            OSError: the folder cannot be made or written.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        byte = int.from_bytes(sha256(name.encode()).digest()[:7], "big")
        with (self.folder / LOCK).open("a") as file:
            try:
                fcntl.fcntl(file, fcntl.F_OFD_SETLK, _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, byte, 1, 0))
            except BlockingIOError:
                yield False
            else:
                yield True


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
