"""Since when something has been so, and how long it was."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Generic, NamedTuple, TypeVar

Key = TypeVar("Key", bound=Hashable)


class Span(NamedTuple):
    """``[begin, end)``, in µs."""

    begin: int
    end: int

    @property
    def length_us(self) -> int:
        """How long."""
        return self.end - self.begin

    def common(self, other: Span) -> Span:
        """The time in which both are; it has no length, or less, if there is none."""
        return Span(max(self.begin, other.begin), min(self.end, other.end))


class Spans(Generic[Key]):
    """For any number of things, the spans in which they were so without a break.

    >>> spans = Spans[str]()
    >>> spans.now({"a", "b"}, 10)
    >>> spans.now({"a"}, 20)
    >>> spans.end(50)
    >>> spans.closed
    [('b', Span(begin=10, end=20)), ('a', Span(begin=10, end=50))]
    """

    def __init__(self) -> None:
        self.closed: list[tuple[Key, Span]] = []
        self._open: dict[Key, int] = {}
        self._before: Collection[Key] = ()
        """What was so until now, as it was told."""

    def now(self, keys: Collection[Key], time: int) -> None:
        """From this time on just these are so."""
        if keys == self._before:
            return
        self._before = keys
        so = dict.fromkeys(keys)
        if so.keys() == self._open.keys():
            return
        for key in [key for key in self._open if key not in so]:
            self.closed.append((key, Span(self._open.pop(key), time)))
        for key in so:
            self._open.setdefault(key, time)

    def end(self, time: int) -> None:
        """The run ends."""
        self.now((), time)
