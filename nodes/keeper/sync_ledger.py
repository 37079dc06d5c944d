"""What a power loss would leave of a directory: kept up to date with every sync of the program that writes there.

The rules are those of POSIX on a file system that keeps its metadata in order, as ext4, XFS and Btrfs do:

- A file's content is durable as it was when a sync of it was asked for: fsync, fdatasync, msync of a mapping of it, sync, syncfs.
- Names (creations, renames, deletions) are durable as they were when anything was synced: the journal is written in order. A rename
  after which nothing was synced is taken back; a name whose file was never synced is that of an empty file.
- What is written to a file that was opened with O_SYNC or O_DSYNC, or by pwritev2 with such a flag, is durable at once.

What was never synced is gone, though a kernel might have written some of it: the worst of what is allowed. sync_file_range promises
nothing, and counts for nothing.

Each durable content lies in a file of its own, beside the directory, so that the ledger outlives the process that keeps it.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

LEFT_OUT = frozenset({".ballast"})
"""What a full disk is filled with is nobody's file."""


class UnsureError(Exception):
    """The ledger cannot tell what is durable; the message says of what."""


class SyncLedger:
    """The ledger of one directory. Every method may be called from any thread.

    Args:
        directory: the program's.
        place: where the ledger is kept; made anew, with all that is there now taken for durable, if there is none.
    """

    def __init__(self, directory: Path, place: Path) -> None:
        self._directory, self._place = directory, place
        self._contents = place / "contents"
        self._book = place / "names.json"
        self._lock = threading.Lock()
        self._names: dict[str, Any] = {}
        """Path below the directory → inode of a file, None of a directory, the target of a link."""
        self._through: set[int] = set()
        self._through_paths: set[str] = set()
        """Of files that are opened so, until it is known which they are."""
        self._doubts = ""
        if self._book.exists():
            held = json.loads(self._book.read_text())
            self._names, self._through = held["names"], set(held["through"])
            self._through_paths, self._doubts = set(held["through_paths"]), held["doubts"]
        else:
            self.everything()

    def everything(self) -> None:
        """All that is there is durable now."""
        with self._lock:
            shutil.rmtree(self._contents, ignore_errors=True)
            self._contents.mkdir(parents=True)
            self._names = self._listed()
            for path, inode in self._names.items():
                if isinstance(inode, int):
                    self._copy(self._directory / path, inode)
            self._write()

    def synced(self, path: Path) -> None:
        """A file or directory is being synced; not ours if it lies elsewhere."""
        with self._lock:
            try:
                found = path.stat()
            except OSError:
                return  # deleted since: of no consequence
            if not path.is_relative_to(self._directory):
                return
            if path.is_file():
                self._copy(path, found.st_ino)
            self._names = self._listed()
            self._write()

    def written_through(self, path: Path) -> None:
        """A file is opened, or written to, so that every write is durable at once; it may not be there yet."""
        with self._lock:
            if path.is_relative_to(self._directory):
                self._through_paths.add(str(path.relative_to(self._directory)))
                self._find_through()
                self._write()

    def find_through(self) -> None:
        """Something is about to be renamed or deleted: see which files those are that are written through."""
        with self._lock:
            if self._through_paths:
                self._find_through()
                self._write()

    def unsure(self, words: str) -> None:
        """What cannot be kept track of: a power loss is refused from now on."""
        with self._lock:
            self._doubts = words
            self._write()

    def lose_power(self) -> int:
        """Bring the directory back to what is durable, for a program that is gone; how many files are otherwise than they were.

        Raises:
            UnsureError: nobody can tell.
        """
        with self._lock:
            if self._doubts:
                raise UnsureError(self._doubts)
            self._find_through()
            self._through_paths.clear()  # their opens failed
            now = self._listed()
            for path, inode in now.items():
                if isinstance(inode, int) and inode in self._through:
                    self._names.setdefault(path, inode)
                    self._copy(self._directory / path, inode)
            changed = sum(self._is_otherwise(path, inode) for path, inode in (now | self._names).items())
            self._restore(now)
            self._through.clear()
        self.everything()
        return changed

    # Below here the lock is held

    def _find_through(self) -> None:
        for path in sorted(self._through_paths):
            try:
                self._through.add((self._directory / path).stat().st_ino)
            except OSError:
                continue
            self._through_paths.discard(path)

    def _listed(self) -> dict[str, Any]:
        names: dict[str, Any] = {}
        todo = [self._directory]
        while todo:
            folder = todo.pop()
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError:
                continue
            for entry in entries:
                path = Path(entry.path)
                if folder == self._directory and entry.name in LEFT_OUT:
                    continue
                name = str(path.relative_to(self._directory))
                if entry.is_symlink():
                    names[name] = str(path.readlink())
                elif entry.is_dir():
                    names[name] = None
                    todo.append(path)
                else:
                    names[name] = entry.inode()
        return names

    def _copy(self, path: Path, inode: int) -> None:
        target = self._contents / str(inode)
        unfinished = target.with_suffix(".new")
        try:
            _copy_sparse(path, unfinished)
        except FileNotFoundError:
            return
        unfinished.rename(target)

    def _write(self) -> None:
        held_inodes = {str(inode) for inode in self._names.values()}
        for content in self._contents.iterdir():
            if content.name not in held_inodes:
                content.unlink()
        unfinished = self._book.with_suffix(".new")
        held = {
            "names": self._names,
            "through": sorted(self._through),
            "through_paths": sorted(self._through_paths),
            "doubts": self._doubts,
        }
        unfinished.write_text(json.dumps(held))
        unfinished.rename(self._book)

    def _is_otherwise(self, path: str, inode: Any) -> bool:  # noqa: ANN401 - see _names
        there, kept = self._directory / path, self._names.get(path, -1)
        if path not in self._names or not there.exists() or not isinstance(kept, int):
            return path not in self._names or not there.exists()
        held = self._contents / str(kept)
        return there.read_bytes() != (held.read_bytes() if held.exists() else b"")

    def _restore(self, now: dict[str, Any]) -> None:
        for path in sorted(now, reverse=True):
            there = self._directory / path
            if there.is_dir() and not there.is_symlink():
                if self._names.get(path, -1) is not None:
                    shutil.rmtree(there)
            elif there.is_symlink() or there.exists():
                there.unlink()
        for path, kept in sorted(self._names.items()):
            there = self._directory / path
            there.parent.mkdir(parents=True, exist_ok=True)
            if kept is None:
                there.mkdir(exist_ok=True)
            elif isinstance(kept, str):
                there.symlink_to(kept)
            elif (held := self._contents / str(kept)).exists():
                _copy_sparse(held, there)
            else:
                there.touch()


def _copy_sparse(path: Path, target: Path) -> None:
    """Copy a file with its mode and times, holes as holes: a log is often allocated far beyond what was written."""
    with path.open("rb") as source, target.open("wb", buffering=0) as copy:
        copy.truncate(os.fstat(source.fileno()).st_size)
        for begin, end in _data(source.fileno()):
            at = copy.seek(begin)
            while at < end and (sent := os.sendfile(copy.fileno(), source.fileno(), at, end - at)):
                at += sent
    shutil.copystat(path, target)


def _data(file: int) -> Iterator[tuple[int, int]]:
    """Where a file has data, and no hole: from, to."""
    end = 0
    while True:
        try:
            begin = os.lseek(file, end, os.SEEK_DATA)
            end = os.lseek(file, begin, os.SEEK_HOLE)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            return  # nothing but a hole is left, or nothing at all
        yield begin, end
