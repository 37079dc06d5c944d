"""The end of one partition's log files, read as it grows, so that a batch that is soon cut off again was seen.

The broker's lines say *that* offsets were appended or cut; the files say *what* lay there. Kafka prints a line about an append
after it wrote the bytes, and a line about a cut before it makes it. So the content that belongs to an append is in the files when
its line comes, unless a cut follows, whose line then comes too. :meth:`SegmentTail.look` is called every few milliseconds and
keeps what it sees until :meth:`SegmentTail.claim` asks for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tidemark.nodes.formats.message_set import Entry, scan
from tidemark.nodes.formats.record_batch import build
from tidemark.nodes.formats.segment import base_of

_MAGIC = 2


@dataclass(slots=True)
class _Placed:
    """Where an entry lies."""

    base: int
    next: int
    position: int
    size: int

    @property
    def end(self) -> int:
        """The position after it."""
        return self.position + self.size


@dataclass(slots=True)
class _Segment:
    """One log file: its descriptor, and its entries up to ``end``."""

    fd: int
    entries: list[_Placed] = field(default_factory=list)
    end: int = 0

    def read(self, position: int, size: int) -> bytes:
        """So many bytes from a position on, fewer at the end."""
        return os.pread(self.fd, size, position)

    def cut(self, size: int) -> None:
        """Forget the entries that do not lie wholly in the first ``size`` bytes."""
        kept = len(self.entries)
        while kept and self.entries[kept - 1].end > size:
            kept -= 1
        del self.entries[kept:]
        self.end = self.entries[-1].end if self.entries else 0


class SegmentTail:
    """The log files of one partition."""

    def __init__(self, find: Callable[[], Path]) -> None:
        """Nothing is read before the first look.

        Args:
            find: gives the directory of the partition; it may come later, and another may take its place.
        """
        self._find = find
        self._directory = Path()
        self._segments: dict[str, _Segment] = {}
        self._changed_ns = -1
        self._was_cut = False
        """Since the last look, by a line."""
        self._fresh: dict[int, list[Entry]] = {}
        """Base offset → what was seen there and not claimed, oldest first."""
        self._known: dict[int, int] = {}
        """Base offset → digest of what was seen there last, for entries that are read once more."""

    def look(self) -> None:
        """Read what is new. A directory or file that is not there, or goes away meanwhile, reads as empty."""
        self._was_cut = False
        self._find_segments()
        for segment in self._segments.values():
            size = os.fstat(segment.fd).st_size
            if size < segment.end:
                segment.cut(size)
            if size > segment.end:
                for entry in scan(segment.read, size, segment.end):
                    self._add(segment, entry)

    def _find_segments(self) -> None:
        try:
            before, self._directory = self._directory, self._find()
            changed_ns = self._directory.stat().st_mtime_ns
            if changed_ns == self._changed_ns and before == self._directory:
                return
            names = sorted(path.name for path in self._directory.iterdir() if base_of(path.name) is not None)
        except OSError:
            names, changed_ns = [], -1
        for name in [name for name, segment in self._segments.items() if not self._is_same(name, segment)]:
            os.close(self._segments.pop(name).fd)
        for name in names:
            if name not in self._segments:
                try:
                    fd = os.open(self._directory / name, os.O_RDONLY | os.O_CLOEXEC)
                except OSError:
                    changed_ns = -1  # look again
                    continue
                self._segments[name] = _Segment(fd)
        self._segments = dict(sorted(self._segments.items()))
        self._changed_ns = changed_ns

    def _is_same(self, name: str, segment: _Segment) -> bool:
        """Whether the file of that name is still the one that is open."""
        try:
            return os.path.samestat((self._directory / name).stat(), os.fstat(segment.fd))
        except OSError:
            return False

    def _add(self, segment: _Segment, entry: Entry) -> None:
        base = entry.base
        digest = hash(entry.raw)
        segment.entries.append(_Placed(base, entry.next, entry.position, len(entry.raw)))
        segment.end = entry.end
        if self._known.get(base) != digest:
            self._known[base] = digest
            self._fresh.setdefault(base, []).append(entry)

    def loaded(self, leo: int) -> None:
        """What lies below ``leo`` is the log as it was loaded: nobody will claim it."""
        for base in [base for base in self._fresh if base < leo]:
            del self._fresh[base]

    def claim(self, first: int, end: int, *, newest_epoch: int, cut_follows: bool) -> list[bytes] | None:
        """The batches that a line says were appended, after a look.

        Args:
            first: offset of the first record.
            end: offset after the last one.
            newest_epoch: where several were seen, those of later leader epochs were hardly meant.
            cut_follows: a line about a cut that takes some of them away has come, too: what was seen first is meant.

        Returns:
            Record batches of version 2, in order; None if their bytes cannot be had any more.
        """
        if self._was_cut:
            self.look()
        found: list[bytes] = []
        offset = first
        while offset < end:
            entry = self._claim_one(offset, newest_epoch, first_seen=cut_follows)
            if entry is None:
                # A cut and other records may have taken its place between two looks.
                self.cut(offset)
                self.look()
                entry = self._claim_one(offset, newest_epoch, first_seen=cut_follows)
            if entry is None:
                return None
            found.append(_batch(entry))
            offset = entry.next
        return found

    def _claim_one(self, base: int, newest_epoch: int, *, first_seen: bool) -> Entry | None:
        fresh = self._fresh.get(base, [])
        likely = [i for i, entry in enumerate(fresh) if entry.epoch <= newest_epoch]
        if not fresh:
            return self._in_file(base)
        if not likely and first_seen:
            return None  # what was meant is gone
        # An old follower may take a batch before it hears of the leader epoch.
        chosen = (likely[0] if first_seen else likely[-1]) if likely else len(fresh) - 1
        entry = fresh[chosen]
        del fresh[: chosen + 1]
        if not fresh:
            del self._fresh[base]
        return entry

    def _in_file(self, base: int) -> Entry | None:
        """The same content once more, as after a cut that a new leader's equal records follow."""
        for segment in self._segments.values():
            for placed in reversed(segment.entries):
                if placed.base == base:
                    return next(scan(segment.read, placed.end, placed.position), None)
                if placed.next <= base:
                    break
        return None

    def cut(self, to: int) -> int:
        """A line said that the log was cut: what lies from there on is read once more, for it may be other records now.

        Returns:
            Where the records end: a batch that straddles the cut is gone whole, although Kafka goes on at ``to``.
        """
        self._was_cut = True
        end = 0
        for name, segment in self._segments.items():
            kept = len(segment.entries)
            while kept and segment.entries[kept - 1].next > to:
                kept -= 1
            if kept < len(segment.entries):
                segment.cut(segment.entries[kept].position)
            end = max(end, segment.entries[-1].next if segment.entries else min(base_of(name) or 0, to))
        return min(end, to)

    def close(self) -> None:
        """Close the files."""
        for segment in self._segments.values():
            os.close(segment.fd)
        self._segments.clear()


def _batch(entry: Entry) -> bytes:
    """As a record batch of version 2."""
    return entry.raw if entry.magic == _MAGIC else build(entry.values, entry.base)
