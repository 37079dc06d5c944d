"""Finds a run's marks in one pass over its trace.

>>> from checkers.marks import exercised
>>> exercised([
...     (1, 1, "lead", "t-0", 0, 0, 0, (1, 2)),
...     (2, 1, "append", "t-0", 0, 0, (7,)),
...     (3, 0, "elect", "t-0", 2, 1, (2, 1), (), "forced", True, 1),
...     (4, 2, "lead", "t-0", 1, 0, 0, (2, 1)),
...     (5, 1, "append", "t-0", 1, 0, (8,)),
... ])
{'elected-while-a-member-is-ahead': Mark(times=1, first_us=4), 'two-lead': Mark(times=1, first_us=5)}
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from checkers.history import TraceEvent
from checkers.truncation_rounds import Mending

_LOG_LOST = frozenset({"power", "disk"})


class Mark(NamedTuple):
    """How often a run came to a mark, and when it first did, in µs."""

    times: int
    first_us: int


class _Seen:
    """A replica as the trace tells it."""

    __slots__ = ("cut_behind", "epoch", "hw", "leading", "leo", "mending", "up", "wrote")

    def __init__(self) -> None:
        self.epoch = -1
        self.leading = False
        self.up = True
        self.leo = 0
        self.hw = 0
        self.mending = Mending()
        self.wrote = False
        """In the reign that it leads."""
        self.cut_behind = False
        """Whether a follower truncated while this one took itself for the leader, and another had been elected."""


class _Partition:
    __slots__ = ("committed", "elected", "isr", "replicas")

    def __init__(self) -> None:
        self.replicas: dict[int, _Seen] = {}
        self.committed = 0
        self.elected = -1
        self.isr: tuple[int, ...] = ()

    def at(self, node: int) -> _Seen:
        seen = self.replicas.get(node)
        if seen is None:
            seen = self.replicas[node] = _Seen()
        return seen


def exercised(trace: Sequence[TraceEvent]) -> dict[str, Mark]:
    """The run's marks, in the order in which it first came to them."""
    run = _Run()
    handlers = run.handlers
    for event in trace:
        handler = handlers.get(event[2])
        if handler is not None:
            run.now = event[0]
            handler(event)
    return {name: Mark(times, run.first[name]) for name, times in run.found.items()}


class _Run:
    def __init__(self) -> None:
        self.found: dict[str, int] = {}
        self.first: dict[str, int] = {}
        self.now = 0
        self._partitions: dict[str, _Partition] = {}
        self.handlers: dict[str, Callable[[TraceEvent], None]] = {
            "append": self._append,
            "hw": self._hw,
            "lead": self._lead,
            "follow": self._follow,
            "truncate": self._truncate,
            "recovered": self._recovered,
            "log-start": self._log_start,
            "ask": self._ask,
            "fetched": self._fetched,
            "elect": self._elect,
            "isr-change": self._isr_change,
            "stop": self._stop,
            "start": self._start,
            "pause": self._pause,
            "removed": self._removed,
            "out-of-order": lambda _: self._mark("out-of-order"),
            "fatal": lambda _: self._mark("gave-up"),
            "fence": lambda _: self._mark("fenced"),
            "reassign": lambda _: self._mark("reassigned"),
            "members": self._members,
        }

    def _mark(self, name: str) -> None:
        if name in self.found:
            self.found[name] += 1
        else:
            self.found[name] = 1
            self.first[name] = self.now

    def _of(self, name: str) -> _Partition:
        partition = self._partitions.get(name)
        if partition is None:
            partition = self._partitions[name] = _Partition()
        return partition

    def _members(self, event: TraceEvent) -> None:
        if not event[7]:
            self._mark("reassigned")

    def _append(self, event: TraceEvent) -> None:
        partition = self._of(event[3])
        replica = partition.at(event[1])
        replica.leo = event[4] + len(event[6])
        if replica.leading:
            replica.wrote = True
            if replica.epoch < partition.elected:
                self._mark("two-lead")

    def _hw(self, event: TraceEvent) -> None:
        partition = self._of(event[3])
        partition.at(event[1]).hw = event[4]
        if event[6]:
            if event[5] < partition.elected:
                self._mark("deposed-leader-committed")
            partition.committed = max(partition.committed, event[4])

    def _lead(self, event: TraceEvent) -> None:
        _, node, _, name, epoch, leo, hw, isr = event
        partition = self._of(name)
        replica = partition.at(node)
        if epoch > partition.elected:  # nobody told of the election: there is no controller
            self._elected(partition, node, epoch)
        if leo < partition.committed and epoch >= partition.elected:  # else it hears late, and another leads
            self._mark("elected-behind-committed")
        others = [partition.at(other).leo for other in isr if other != node]
        if any(other < leo for other in others):
            self._mark("elected-while-a-member-lags")
        if any(other > leo for other in others):
            self._mark("elected-while-a-member-is-ahead")
        if replica.leading:
            self._mark("reign-skipped-by-leader" if epoch > replica.epoch + 1 else "led-on-in-a-new-epoch")
            if replica.cut_behind:
                self._mark("led-on-over-a-cut")
        replica.leading, replica.wrote, replica.cut_behind = True, False, False
        replica.epoch, replica.leo, replica.hw = epoch, leo, hw

    def _follow(self, event: TraceEvent) -> None:
        _, node, _, name, epoch, leader, leo, hw = event
        partition = self._of(name)
        replica = partition.at(node)
        if replica.epoch >= 0 and epoch > replica.epoch + 1:
            self._mark("reign-skipped-by-follower")
        if leader >= 0 and leo > partition.at(leader).leo:
            self._mark("followed-ahead")
        replica.leading = False
        replica.mending.begin()
        replica.epoch, replica.leo, replica.hw = epoch, leo, hw

    def _truncate(self, event: TraceEvent) -> None:
        _, node, _, name, to, before, reason, _ = event
        partition = self._of(name)
        replica = partition.at(node)
        if to < replica.hw:
            self._mark("cut-below-high-watermark")
        if to < partition.committed:
            self._mark("cut-below-committed")
        if reason.startswith("out of range"):
            self._mark("out-of-range")
        else:
            self._mark("cut-to-high-watermark" if "high watermark" in reason else "cut-by-epoch")
        self._rounds(replica.mending.cut(reason))
        if to == 0 and before:
            self._mark("cut-whole-log")
        for other, seen in partition.replicas.items():
            if other != node and seen.leading and seen.epoch < replica.epoch:
                seen.cut_behind = True
                self._mark("cut-behind-the-leaders-back")
        replica.leo, replica.hw = to, min(replica.hw, to)

    def _recovered(self, event: TraceEvent) -> None:
        _, node, _, name, leo, hw, lost = event
        replica = self._of(name).at(node)
        if lost > 0:
            self._mark("recovery-dropped-records")
        if hw < replica.hw:
            self._mark("checkpoint-behind")
        replica.leo, replica.hw = leo, hw

    def _log_start(self, event: TraceEvent) -> None:
        how = event[6]
        if how == "begin-anew":
            self._mark("began-anew")
            self._of(event[3]).at(event[1]).leo = event[4]
        elif how in ("delete-records", "retention"):
            self._mark("deleted")

    def _ask(self, event: TraceEvent) -> None:
        replica = self._of(event[3]).at(event[1])
        self._rounds(replica.mending.ask(event[5]))

    def _fetched(self, event: TraceEvent) -> None:
        self._of(event[3]).at(event[1]).mending.begin()

    def _rounds(self, rounds: int) -> None:
        if rounds in (2, 3):
            self._mark(f"rounds-{rounds}")

    def _elect(self, event: TraceEvent) -> None:
        _, _, _, name, leader, epoch, isr, _, how, clean, _ = event
        partition = self._of(name)
        if leader < 0:
            self._mark("no-leader-left")
        elif not clean:
            self._mark("elected-from-outside")
        if how != "shrunk":
            self._elected(partition, leader, epoch)
        partition.elected = epoch
        self._isr(partition, isr)

    def _elected(self, partition: _Partition, leader: int, epoch: int) -> None:
        if any(
            seen.leading and not seen.wrote and seen.epoch == partition.elected and node != leader
            for node, seen in partition.replicas.items()
        ):
            self._mark("elected-again-at-once")
        partition.elected = epoch

    def _isr_change(self, event: TraceEvent) -> None:
        self._isr(self._of(event[3]), event[4])

    def _isr(self, partition: _Partition, isr: tuple[int, ...]) -> None:
        before, partition.isr = partition.isr, isr
        if before and len(isr) < len(before):
            self._mark("isr-shrunk")
            if len(isr) == 1:
                self._mark("isr-of-one")
        elif len(isr) > len(before) > 0:
            self._mark("isr-grew")

    def _stop(self, event: TraceEvent) -> None:
        _, node, _, _, how = event
        if how in _LOG_LOST:
            self._mark("log-lost")
        for partition in self._partitions.values():
            replica = partition.replicas.get(node)
            if replica is None:
                continue
            self._mark("leader-stopped" if replica.leading else "follower-stopped")
            replica.leading = replica.up = replica.cut_behind = False
            if not any(seen.up for seen in partition.replicas.values()):
                self._mark("all-stopped")

    def _start(self, event: TraceEvent) -> None:
        for partition in self._partitions.values():
            replica = partition.replicas.get(event[1])
            if replica is not None:
                replica.up = True

    def _pause(self, event: TraceEvent) -> None:
        for partition in self._partitions.values():
            replica = partition.replicas.get(event[1])
            if replica is not None:
                self._mark("leader-paused" if replica.leading else "follower-paused")

    def _removed(self, event: TraceEvent) -> None:
        self._of(event[3]).at(event[1]).leo = 0
