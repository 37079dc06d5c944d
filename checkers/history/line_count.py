"""Whether a history's file is whole: its lines are numbered, and the meta line says how many there are.

A file of somebody else's may do without, or have a meta line that says ``"lines"`` and no numbers.

>>> counted = LineCount()
>>> for place, line in enumerate([{"kind": "meta", "line": 1, "lines": 4}, {"line": 2}, {"line": 4}], start=1):
...     counted.add(place, line)
>>> counted.gaps
'line 3 is missing'
"""

from __future__ import annotations

from typing import Any


class LineCount:
    """Follows the numbers of a file's lines.

    Attributes:
        gaps: what is missing, there twice or out of place before the last line that is there, as a sentence; empty if nothing is.
    """

    def __init__(self) -> None:
        self._gaps = ""
        self._lines = 0
        self._numbered = 0
        self._last = 0
        self._total: object = None

    def add(self, place: int, entry: dict[str, Any]) -> None:
        """The next line of the file, the `place`-th. Takes ``line``, and of a meta line ``lines``, out of it."""
        self._lines += 1
        if entry.get("kind") == "meta":
            self._total = entry.pop("lines", None)
        number = entry.pop("line", None)
        if number is None and self._numbered == 0:
            return
        self._numbered += 1
        if number is None:
            self._tell(f"line {place} of the file has no number, and those before it have")
        elif type(number) is not int or number < 1:
            self._tell(f"line {place} of the file says that its number is {number!r}")
        else:
            self._follow(number)

    def follow(self, first: int | None, lines: int) -> bool:
        """The next so many lines, numbered one after the other from `first` on, or None if they have no numbers; false, and
        nothing is counted, if something is missing before them.
        """
        if not self.can_follow(first):
            return False
        self._lines += lines
        if first is not None:
            self._numbered += lines
            self._last += lines
        return True

    def can_follow(self, first: int | None) -> bool:
        """Whether nothing is missing before a line of that number, or of none."""
        if first is None:
            return self._numbered == 0
        return first == self._last + 1 and self._numbered == self._lines

    def _follow(self, number: int) -> None:
        missing = number - self._last - 1
        if missing < 0:
            self._tell(f"line {number} comes after line {self._last}")
        elif missing == 1:
            self._tell(f"line {number - 1} is missing")
        elif missing:
            self._tell(f"lines {self._last + 1} to {number - 1} are missing")
        self._last = number

    def _tell(self, sentence: str) -> None:
        self._gaps = self._gaps or sentence

    @property
    def gaps(self) -> str:
        """See the class."""
        if self._gaps:
            return self._gaps
        if self._numbered and self._numbered < self._lines:
            return f"only {self._numbered} of {self._lines} lines have a number"
        total = self._total
        if total is not None and type(total) is not int:
            return f"the meta line says that there are {total!r} lines"
        if isinstance(total, int) and self._lines > total:
            return f"the file has {self._lines} lines, and the meta line says {total}"
        return ""

    def cut_off(self, *, torn: bool) -> str:
        """Why the end is missing, as a sentence; empty if it is not.

        Args:
            torn: the last line was not written to its end; it was not added.
        """
        total = self._total
        if isinstance(total, int) and self._lines < total:
            return f"the history ends after {self._lines} of {total} lines"
        if torn:
            return "the last line of the history was cut off"
        if self._numbered and total is None:
            return "the history was not written to its end"
        return ""
