"""Reads a sequence of files that are written one after the other, each by adding to its end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

CHUNK = 1 << 18
"""Bytes read at once."""


class Used(NamedTuple):
    """What was made of the bytes that were read.

    Attributes:
        whole: bytes of the whole entries, which are used up.
        next: bytes of the entry that follows, if its beginning tells that; else 0.
        waits: what follows must not be used yet.
    """

    whole: int
    next: int = 0
    waits: bool = False


class GrowingFiles:
    """The files of a folder, in order. An earlier one is done with when a later one is there and the earlier has been read again.

    Args:
        folder: it, and its files, may not be there yet.
        order: the place of a file by its name; None: it is none of them.
    """

    def __init__(self, folder: Path, order: Callable[[str], int | None]) -> None:
        self._folder = folder
        self._order = order
        self._current: int | None = None
        self._at = 0

    @property
    def current(self) -> int | None:
        """The place of the file that is read now; None before the first."""
        return self._current

    def read(self, consume: Callable[[int, bytes], Used]) -> None:
        """Read on.

        Args:
            consume: takes the place in the file and the bytes from there on. It is called again with what it has not used up.

        Raises:
            OSError: a file cannot be read.
        """
        while True:
            files = self.files()
            if self._current is None and files:
                self._current = min(files)
            if self._current is None:
                return
            if self._current in files and self._read_one(files[self._current], consume):
                return
            later = [place for place in files if place > self._current]
            if not later:
                return
            self._current, self._at = min(later), 0

    def start_at(self, place: int) -> None:
        """Go on with the file of this place."""
        self._current, self._at = place, 0

    def files(self) -> dict[int, Path]:
        """The files there are, by their place."""
        try:
            entries = list(self._folder.iterdir())
        except FileNotFoundError:
            return {}
        return {place: path for path in entries if (place := self._order(path.name)) is not None}

    def _read_one(self, path: Path, consume: Callable[[int, bytes], Used]) -> bool:
        """Whether what follows in it must wait."""
        size = CHUNK
        try:
            with path.open("rb") as file:
                while True:
                    file.seek(self._at)
                    data = file.read(size)
                    used = consume(self._at, data) if data else Used(0)
                    self._at += used.whole
                    if used.waits or (not used.whole and (used.next <= size or len(data) < size)):
                        return used.waits
                    size = max(CHUNK, used.next)
        except FileNotFoundError:
            return False
