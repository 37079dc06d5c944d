"""Do a node's trace and its log files tell the same story? If not, one of them was not understood, and must not be relied on.

It is one check for every system, whether its nodes trace what they do or a sidecar reads it off a broker's log lines. Every
``append``, ``truncate``, ``recovered`` and ``log-start`` of a node is replayed; the log that comes out must be the one in its
files, but for what lies below the log start: retention takes it away when it likes.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from tidemark.checkers.history.trace_events import KIND, TraceEvent
from tidemark.harness.evidence.replayed_log import UNKNOWN, ReplayedLog
from tidemark.nodes.core.messages import CONTROLLER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tidemark.harness.evidence.replica_evidence import ReplicaEvidence, Segment


def tells_of_logs(found: ReplicaEvidence) -> bool:
    """Whether any node traced what became of a log."""
    return any(event[KIND] in _STEPS for events in found.events.values() for event in events)


def agreement_of_all(found: ReplicaEvidence) -> dict[int, list[str]]:
    """Where traces and files of nodes differ: node → sentences; without those of whom they agree."""
    differ = {}
    for node, events in found.events.items():
        if node != CONTROLLER:
            down = node in found.down or _ended(events)
            said = agreement(events, found.segments.get(node, {}), down=down)
            if said:
                differ[node] = said
    return differ


def _ended(events: Iterable[TraceEvent]) -> bool:
    lives = [event[KIND] for event in events if event[KIND] in {"start", "stop"}]
    return lives[-1:] == ["stop"]


def agreement(events: Iterable[TraceEvent], segments: Mapping[str, Segment], *, down: bool = False) -> list[str]:
    """Where a node's trace and its files differ, as sentences; none if they agree.

    A process that is killed may have written what it could not tell any more: after such a death a log may be longer than was
    told. So may the file of one that is down at the end; and shorter, if the power or the disk was lost.

    Args:
        events: the node's, in order, as docs/history.md has them.
        segments: partition → what its files hold at the end.
        down: whether its process was gone when they were collected.
    """
    node = 0
    replays: dict[str, _Replay] = defaultdict(_Replay)
    clean = False
    for _, node, event, partition, *fields in events:  # noqa: B007 (all are of one node)
        if event == "start":
            for replay in replays.values():
                replay.was_clean = clean
            clean = False
        elif event == "stop":
            clean = fields[0] == "clean"
        elif event in _STEPS:
            _STEPS[event](replays[partition], *fields)
    said = []
    for partition in sorted({*replays, *segments}):
        replay = replays[partition]
        replay.compare(segments.get(partition, []), down=down, clean=clean)
        said += [f"Broker {node}, {partition}: {sentence}" for sentence in replay.said]
    return said


class _Replay:
    """One partition's log, and what is wrong with the story so far; one sentence is enough."""

    def __init__(self) -> None:
        self.log = ReplayedLog()
        self.said: list[str] = []
        self.was_clean = False
        self.told = 0
        self.untold = 0
        self._holes: set[tuple[int, int]] = set()
        """(end, next base): a cut through a batch leaves offsets without records, in the files as well."""
        self._perhaps: set[tuple[int, int]] = set()
        """Those of cuts in what a recovery found, of whose batches nobody knows where they end."""
        self.start = 0
        self._found = range(0)
        """Offsets of records that the latest recovery found, and no line had told of."""

    def _say(self, sentence: str) -> None:
        if not self.said:
            self.said.append(sentence)

    def append(self, base: int, epoch: int, values: tuple[int, ...]) -> None:
        if base > self.log.end:
            self._holes.add((self.log.end, base))
            self.log.append(self.log.end, UNKNOWN, (None,) * (base - self.log.end))
        elif base < self.log.end:
            self._say(f"a line tells of an append at offset {base}, and the log ended at {self.log.end}.")
        self.log.append(base, epoch, values)
        self.told += len(values)

    def truncate(self, to: int, *_: object) -> None:
        self._cut(to)
        self.start = min(self.start, to)

    def log_start(self, start: int, _before: int, how: str) -> None:
        if how == "begin-anew":
            self.log.begin_at(start)
            self._holes.clear()
        elif how == "recovered" and self._found:
            deleted = min(start, self._found.stop) - self._found.start
            self.untold -= max(deleted, 0)
        self.start = start

    def removed(self, *_: object) -> None:
        self.log.begin_at(0)
        self.start = 0
        self._holes.clear()

    def _cut(self, to: int) -> None:
        at = self.log.at(to)
        self.log.cut(to)
        if at is not None and at.value is None and self.log.end < to:
            self._perhaps.add((self.log.end, to))
            self.log.append(self.log.end, UNKNOWN, (None,) * (to - self.log.end))
        self._holes = {hole for hole in self._holes if hole[1] <= self.log.end}

    def recovered(self, leo: int, *_: object) -> None:
        self.start = 0
        missing = leo - self.log.end
        self._found = range(self.log.end, leo)
        if missing > 0:
            if self.was_clean:
                self._say(
                    f"it was stopped in good order at offset {self.log.end}, and found {leo} when it started again."
                )
            self.log.append(self.log.end, UNKNOWN, (None,) * missing)
            self.untold += missing
        else:
            self._cut(leo)
            if self.log.end != leo:
                self._say(f"its log was recovered to offset {leo}, where no batch ends.")
        self.was_clean = False

    def compare(self, segment: Segment, *, down: bool, clean: bool) -> None:
        """See whether this is what the files hold."""
        end = self.log.start
        if end < self.start:
            may_begin = max(self.start, *(base for gap, base in self._holes if gap <= self.start), 0)
            end = min(segment[0][0] if segment else self.log.end, may_begin)
            self._holes = {hole for hole in self._holes if hole[1] > end}
        for base, epoch, values in segment:
            if base != end and (end, base) not in self._holes | self._perhaps:
                self._say(f"its files go from offset {end} to {base}.")
            self._holes.discard((end, base))
            for offset, value in enumerate(values, base):
                self._compare_record(offset, epoch, value)
            end = base + len(values)
        for gap, base in sorted(self._holes):
            self._say(f"a line tells of an append at offset {base}, and the log ended at {gap}.")
        if end < self.log.end and not down and (end, self.log.end) not in self._perhaps:
            self._say(f"its lines tell of records up to offset {self.log.end}, and its files end at {end}.")
        if end > self.log.end and (clean or not down):
            self._say(f"its files have records up to offset {end}, and its lines tell of them up to {self.log.end}.")
        if self.untold > self.told:
            self._say(f"its lines tell of {self.told} records, and {self.untold} more were there.")

    def _compare_record(self, offset: int, epoch: int, value: int) -> None:
        record = self.log.at(offset)
        if record is None or record.value is None:
            return
        if record.value != value:
            self._say(f"offset {offset} holds {value}, and its lines tell of {record.value}.")
        elif UNKNOWN not in {record.epoch, epoch} and record.epoch != epoch:
            self._say(f"offset {offset} is of epoch {epoch}, and its lines tell of {record.epoch}.")


_STEPS: dict[str, Callable[..., None]] = {
    "append": _Replay.append,
    "truncate": _Replay.truncate,
    "recovered": _Replay.recovered,
    "log-start": _Replay.log_start,
    "removed": _Replay.removed,
    "log-lost": _Replay.removed,
}
