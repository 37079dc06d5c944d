"""The order of a file's entries: what is safe to sort is sorted, what contradicts itself is refused.

A process, and a node, tell what they did one after the other; how the streams of several lie in a file does not matter, for
times say how they belong together. So they are sorted by time, those of one time as the file has them, unless one stream's own
times go back.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from operator import itemgetter
from typing import NamedTuple

from tidemark.checkers.history.history import History, Op, Value
from tidemark.checkers.history.line_shapes import shown
from tidemark.checkers.history.trace_events import NODE, TIME, TraceEvent

SENDING = ("send", "txn")
"""What an operation is that sends; whatever else is in the value of another one, nobody asks."""
Sends = tuple[tuple[str, type, Value], ...]
"""The keys and values of what half an operation sends, with their types: 1 is neither true nor 1.0."""


def sends_of(op: Op) -> Sends:
    """What half an operation sends, wherever it lies."""
    if op.f not in SENDING or op.value.__class__ not in (tuple, list):
        return ()
    found = []
    for micro in op.value:
        if micro.__class__ in (tuple, list) and len(micro) == 3 and micro[0] == "send":
            what = micro[2]
            value = what[1] if what.__class__ is tuple and len(what) == 2 else what
            found.append((micro[1], value.__class__, value))
    return tuple(found)


def other_sends(asked: Sends, done: Sends, type_: str) -> str:
    """How a completion contradicts its invocation, in words; empty if it does not. An invocation may leave out all that it sends,
    what did not end ok may tell of a part.
    """
    if asked == done or not asked or (type_ != "ok" and set(done) <= set(asked)):
        return ""
    sent, told = next(
        ((one, other) for one, other in zip_longest(asked, done) if one != other and (other or type_ == "ok")),
        (asked[-1], None),
    )
    return f"with {_told(told)}, and invoked it with {_told(sent)}"


def _told(send: tuple[str, type, Value] | None) -> str:
    if send is None:
        return "less"
    key, _, value = (getattr(one, "text", shown(one)) for one in send)  # a word of EDN is told as it is written there
    return f"{value} for {key}"


class Half(NamedTuple):
    """Half an operation of a process: when, whether it is the invocation, of what, in which line, and what it sends."""

    time: int
    invoked: bool
    f: str
    line: int
    sends: Sends = ()


Stretch = Mapping[str | int, tuple[Half, Half]]
"""What each process did first and last in some lines in which it does not contradict itself."""


class EntryOrder:
    """Follows the entries of a file; `sort` puts the history in order."""

    def __init__(self) -> None:
        self._open: dict[str | int, tuple[int, str, Sends]] = {}
        self._latest: dict[tuple[str, object], int] = {}
        self.broken: tuple[int, str] | None = None
        """The first line that contradicts others, and how."""

    def op(self, number: int, op: Op) -> None:
        """Half an operation, in line `number`: a process has one operation at a time."""
        self._in_time(number, "process", op.process, op.time)
        opened = self._open.pop(op.process, None)
        if op.type == "invoke":
            if opened is not None:
                line, f, _ = opened
                self._break(number, f"{op.process} invokes a {op.f} while its {f} of line {line} is open")
            self._open[op.process] = (number, op.f, sends_of(op))
        elif opened is None:
            self._break(number, f"{op.process} completes a {op.f} that it has not invoked")
        elif opened[1] != op.f:
            self._break(number, f"{op.process} completes a {op.f}, and has a {opened[1]} open since line {opened[0]}")
        else:
            other = other_sends(opened[2], sends_of(op), op.type)
            if other:
                self._break(number, f"{op.process} completes a {op.f} {other} (line {opened[0]})")

    def follow(self, stretch: Stretch) -> bool:
        """The next lines; false, and they are not followed, if a process contradicts there what it did before."""
        for process, (first, _) in stretch.items():
            opened = self._open.get(process)
            if first.time < self._latest.get(("process", process), first.time) or first.invoked == (opened is not None):
                return False
            if opened is not None and (opened[1] != first.f or opened[2] not in ((), first.sends)):
                return False
        for process, (_, last) in stretch.items():
            self._latest["process", process] = last.time
            if last.invoked:
                self._open[process] = last.line, last.f, last.sends
            else:
                self._open.pop(process, None)
        return True

    def event(self, number: int, event: TraceEvent) -> None:
        """A trace event, in line `number`."""
        self._in_time(number, "node", event[NODE], event[TIME])

    def _in_time(self, number: int, kind: str, name: object, time: int) -> None:
        latest = self._latest.get((kind, name), time)
        if time < latest:
            self._break(number, f"{kind} {name} was at {latest} µs before, and goes back to {time} µs")
        self._latest[kind, name] = time

    def _break(self, number: int, sentence: str) -> None:
        if self.broken is None:
            self.broken = number, sentence

    @staticmethod
    def sort(history: History) -> None:
        """By time, entries of one time as they were."""
        history.ops.sort(key=lambda op: op.time)
        history.trace.sort(key=itemgetter(TIME))
        history.nemesis.sort(key=lambda op: op[0])
