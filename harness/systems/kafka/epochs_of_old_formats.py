"""Leader epochs for records whose format has none (magic 0 and 1, under protocol 0.10), from who led when they were written.

What a leader appends is of the epoch it leads in. A follower copies its leader's log: from the offset on at which that leader took
over, the records are of that leadership; before it, they are what that leader's log held when it took over. So everything follows
from the order of events within each node, taken leadership by leadership; clocks do not matter.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from tidemark.harness.evidence.replayed_log import UNKNOWN, ReplayedLog

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.checkers.history.trace_events import TraceEvent
    from tidemark.harness.evidence.replica_evidence import Segment

Node = int


@dataclass(slots=True)
class Attributed:
    """Events and logs with epochs.

    Attributes:
        unknown: node → what could not be found out of its records, as sentences; those keep epoch −1.
    """

    events: dict[Node, list[TraceEvent]]
    segments: dict[Node, dict[str, Segment]]
    unknown: dict[Node, list[str]] = field(default_factory=dict)


def attribute(traces: Mapping[Node, list[TraceEvent]], segments: Mapping[Node, Mapping[str, Segment]]) -> Attributed:
    """The same events and logs with the epochs that the records' format does not name; those it does name are kept.

    Args:
        traces: node → its events in order, as docs/history.md has them.
        segments: node → partition → what its files hold at the end.
    """
    found = Attributed(
        {node: list(events) for node, events in traces.items()},
        {node: {name: list(segment) for name, segment in of_node.items()} for node, of_node in segments.items()},
    )
    for partition in _without_epochs(found):
        _Partition(partition, found).attribute()
    return found


def _without_epochs(found: Attributed) -> list[str]:
    """Partitions that have records of an old format."""
    names = {e[3] for events in found.events.values() for e in events if e[2] == "append" and e[5] == UNKNOWN}
    for of_node in found.segments.values():
        names |= {name for name, segment in of_node.items() if any(epoch == UNKNOWN for _, epoch, _ in segment)}
    return sorted(names)


class _Leadership(NamedTuple):
    """The partition in one leader epoch.

    Attributes:
        start: the leader's log end when it took over.
        before: its log then.
    """

    start: int
    before: ReplayedLog


class _Step(NamedTuple):
    """One event of a node, by its place among them, and whether the node led at the time."""

    place: int
    leads: bool


class _Partition:
    """One partition on all nodes.

    Attributes:
        unknown: node → how many of its records have no epoch that could be found.
    """

    def __init__(self, name: str, found: Attributed) -> None:
        self._name = name
        self._found = found
        self._logs: dict[Node, ReplayedLog] = defaultdict(ReplayedLog)
        self._leaderships: dict[int, _Leadership] = {}
        self._written: dict[tuple[int, int], set[int]] = defaultdict(set)
        """(offset, value) → epochs in which a leader wrote it."""
        self._latest: dict[Node, tuple[int, bool]] = {}
        """Node → the epoch it was in last, and whether it led."""
        self.unknown: dict[Node, int] = defaultdict(int)

    def attribute(self) -> None:
        """Find the epochs of all records: leadership by leadership, the leader's before its followers'."""
        terms = self._terms()
        for epoch in sorted(terms):
            nodes = terms[epoch]
            for node in sorted(nodes, key=lambda node: not any(step.leads for step in nodes[node])):
                for step in nodes[node]:
                    self._take(node, epoch, step)
        for node, of_node in self._found.segments.items():
            if self._name in of_node:
                of_node[self._name] = [self._in_file(node, *batch) for batch in of_node[self._name]]
        for node, count in sorted(self.unknown.items()):
            if count:
                self._found.unknown.setdefault(node, []).append(
                    f"The leader epochs of {count} records of {self._name} on broker {node} are not known: no line tells who wrote "
                    "them."
                )

    def _terms(self) -> dict[int, dict[Node, list[_Step]]]:
        """Epoch → node → what happened there in that epoch, in order; what came before the first is in epoch −1."""
        terms: dict[int, dict[Node, list[_Step]]] = defaultdict(lambda: defaultdict(list))
        for node, events in self._found.events.items():
            epoch, leads = UNKNOWN, False
            for place, (_, _, event, partition, *fields) in enumerate(events):
                if partition != self._name:
                    continue
                if event in {"lead", "follow"}:
                    epoch, leads = max(epoch, fields[0]), event == "lead"
                terms[epoch][node].append(_Step(place, leads))
            self._latest[node] = (epoch, leads)
        return terms

    def _take(self, node: Node, epoch: int, step: _Step) -> None:
        log = self._logs[node]
        events = self._found.events[node]
        time, _, event, partition, *fields = events[step.place]
        if event == "lead":
            start = fields[1] if fields[1] >= 0 else log.end
            self._leaderships.setdefault(epoch, _Leadership(start, log.copy()))
        elif event == "append":
            base, written_in, values = fields
            if written_in == UNKNOWN:
                written_in = self._epoch_of(base, values[0], epoch, leads=step.leads)
                self.unknown[node] += len(values) * (written_in == UNKNOWN)
                events[step.place] = (time, node, event, partition, base, written_in, values)
            if step.leads:
                for offset, value in enumerate(values, base):
                    self._written[offset, value].add(written_in)
            log.append(base, written_in, values)
        elif event == "truncate":
            log.cut(fields[0])
        elif event == "log-start" and fields[2] == "begin-anew":
            log.begin_at(fields[0])
        elif event == "removed":
            log.begin_at(0)
        elif event == "recovered":
            log.cut(fields[0])
            for offset in range(log.end, fields[0]):  # written just before the process was killed, and never told
                log.append(offset, self._epoch_of(offset, None, epoch, leads=step.leads), (None,))

    def _epoch_of(self, offset: int, value: int | None, epoch: int, *, leads: bool) -> int:
        """The epoch of a record that a node wrote in this epoch, as the leader or as a follower."""
        if leads:
            return epoch
        leadership = self._leaderships.get(epoch)
        if leadership is not None:
            if offset >= leadership.start:
                return epoch
            record = leadership.before.at(offset)
            if record is not None and record.epoch != UNKNOWN and _may_be(record.value, value):
                return record.epoch
        written_in = self._written.get((offset, value), set()) if value is not None else set()
        return next(iter(written_in)) if len(written_in) == 1 else UNKNOWN

    def _in_file(self, node: Node, base: int, epoch: int, values: tuple[int, ...]) -> tuple[int, int, tuple[int, ...]]:
        if epoch != UNKNOWN:
            return base, epoch, values
        log = self._logs[node]
        record = log.at(base)
        if record is None:
            latest, leads = self._latest.get(node, (UNKNOWN, False))
            epoch = self._epoch_of(base, values[0], latest, leads=leads)
            self.unknown[node] += len(values) * (epoch == UNKNOWN)
        elif _may_be(record.value, values[0]):
            epoch = record.epoch
        return base, epoch, values


def _may_be(one: int | None, other: int | None) -> bool:
    return None in {one, other} or one == other
