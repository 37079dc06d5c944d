"""One lane per broker: the trace of one partition, replayed into the intervals that a space-time picture draws."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tidemark.checkers.history.history import History
from tidemark.checkers.history.trace_events import KIND, NODE, PARTITION, TIME, Reassign, Seen
from tidemark.nemesis.kinds import CONTROLLER_LINKS, LINK_FAULTS


@dataclass(slots=True)
class Term:
    """A role in one leader epoch. `leader` is the broker followed, -1 for none, the lane's own when it leads."""

    start: int
    end: int
    epoch: int
    leader: int
    leads: bool


@dataclass(slots=True)
class Span:
    """A time during which something was wrong; `kind` is `stopped`, `paused` or `fault`."""

    start: int
    end: int
    kind: str
    label: str


@dataclass(slots=True)
class Life:
    """A record's time on one replica's log, at the offset in question. `ended_by` is the trace event, None if it stayed."""

    start: int
    end: int
    value: Any
    epoch: int
    ended_by: tuple[Any, ...] | None = None


@dataclass(slots=True)
class Lane:
    """What one broker went through. Steps are (time, value from then on); none where nobody knows. `heard`: when it first told
    anything. `silences`: when its process or its log went, so that what it told of its log before holds no longer.
    """

    node: int
    terms: list[Term] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    lives: list[Life] = field(default_factory=list)
    leo: list[tuple[int, int]] = field(default_factory=lambda: [(0, 0)])
    hw: list[tuple[int, int]] = field(default_factory=lambda: [(0, 0)])
    heard: int | None = None
    silences: list[int] = field(default_factory=list)

    def life_at(self, time: int) -> Life | None:
        """What the replica holds at the offset at `time`, at the end of that µs."""
        return next((life for life in reversed(self.lives) if life.start <= time < life.end), None)


def lanes_of(history: History, partition: str, offset: int | None) -> list[Lane]:
    """The lanes of all who were to have the partition, following what lies at `offset` (None: no record in particular)."""
    end = max((event[TIME] for event in history.trace), default=0)
    end = max(end, int(history.meta.get("end_us", 0))) + 1
    nodes = [
        event[NODE]
        for event in history.trace
        if event[PARTITION] == partition and event[KIND] in {"append", "lead", "follow"}
    ]
    replicas = history.meta.get("replicas", {}).get(partition, nodes)
    came = (node for reassign in Reassign.among(history.trace, partition) for node in reassign.replicas)
    builders = {node: _Builder(Lane(node), offset, end) for node in sorted({*map(int, replicas), *map(int, came)})}
    for event in history.trace:
        if event[NODE] in builders and event[PARTITION] in {partition, ""}:
            builders[event[NODE]].take(event)
    seen = {event.node for event in Seen.among(history.trace, partition)}
    for lane in (builder.lane for builder in builders.values()):
        lane.spans += _fault_spans(history, lane.node, end)
        if history.meta.get("untold"):  # what nobody has seen nobody knows
            lane.leo, lane.hw = ([], []) if lane.node not in seen else (lane.leo[1:], lane.hw[1:])
    return [builder.lane for builder in builders.values()]


class _Builder:
    """Takes one node's events in order; open intervals reach to `end` until something closes them."""

    def __init__(self, lane: Lane, offset: int | None, end: int) -> None:
        self.lane = lane
        self._offset = offset
        self._end = end
        self._cut_by: tuple[Any, ...] | None = None

    def take(self, event: tuple[Any, ...]) -> None:
        """Bring the lane up to date with one event."""
        if self.lane.heard is None:
            self.lane.heard = event[TIME]
        handler = getattr(self, f"_on_{event[KIND].replace('-', '_')}", None)
        if handler is not None:
            handler(event, event[TIME], *event[PARTITION + 1 :])

    def _on_lead(self, _: tuple[Any, ...], time: int, epoch: int, leo: int, hw: int, *_rest: object) -> None:
        self._term(Term(time, self._end, epoch, self.lane.node, leads=True))
        self._ends(time, leo, hw)

    def _on_follow(self, _: tuple[Any, ...], time: int, epoch: int, leader: int, leo: int, hw: int) -> None:
        self._term(Term(time, self._end, epoch, leader, leads=False))
        self._ends(time, leo, hw)

    def _on_seen(
        self, _: tuple[Any, ...], time: int, leads: bool, epoch: int, end: int, committed: int, leader: int
    ) -> None:
        now, last = (
            (epoch, self.lane.node if leads else leader, leads),
            self.lane.terms[-1] if self.lane.terms else None,
        )
        if last is None or last.end != self._end or (last.epoch, last.leader, last.leads) != now:
            self._term(Term(time, self._end, *now))
        self._ends(time, end, committed)

    def _on_append(self, _: tuple[Any, ...], time: int, base: int, epoch: int, values: tuple[Any, ...]) -> None:
        if self._offset is not None and base <= self._offset < base + len(values):
            self.lane.lives.append(Life(time, self._end, values[self._offset - base], epoch))
        self.lane.leo.append((time, base + len(values)))

    def _on_truncate(self, event: tuple[Any, ...], time: int, to: int, *_rest: object) -> None:
        self._cut(event, time, to)
        self._cut_by = event

    def _on_hole(self, event: tuple[Any, ...], time: int, begin: int, leo: int) -> None:
        if self._offset is not None and begin <= self._offset < leo:
            self._end_life(self._cut_by or event, time)

    def _on_log_start(self, event: tuple[Any, ...], time: int, start: int, _before: int, how: str) -> None:
        anew = how == "begin-anew"
        if anew:
            self.lane.leo.append((time, start))
        if self._offset is not None and (anew or self._offset < start):
            self._end_life(event, time)

    def _on_recovered(self, event: tuple[Any, ...], time: int, leo: int, hw: int, *_rest: object) -> None:
        self._cut(event, time, leo)
        self.lane.hw.append((time, hw))
        life = self.lane.lives[-1] if self.lane.lives else None
        ended_by = life.ended_by if life is not None else None
        deleted = ended_by is not None and ended_by[2] == "log-start" and ended_by[6] != "begin-anew"
        if life is not None and deleted and self._offset is not None and self._offset < leo:
            # A log start that was no longer there has come back, and so has the record, unless its `log-start` follows.
            self.lane.lives.append(Life(time, self._end, life.value, life.epoch))

    def _on_removed(self, event: tuple[Any, ...], time: int, *_rest: object) -> None:
        self._close_term(time)
        self._cut(event, time, 0)
        self.lane.silences.append(time)

    def _on_hw(self, _: tuple[Any, ...], time: int, hw: int, *_rest: object) -> None:
        self.lane.hw.append((time, hw))

    def _on_stop(self, _: tuple[Any, ...], time: int, how: str) -> None:
        self._close_term(time)
        self._close("paused", time)
        self.lane.spans.append(Span(time, self._end, "stopped", how))
        self.lane.silences.append(time)

    def _on_start(self, _: tuple[Any, ...], time: int, *_rest: object) -> None:
        self._close("stopped", time)

    def _on_pause(self, _: tuple[Any, ...], time: int) -> None:
        self.lane.spans.append(Span(time, self._end, "paused", "paused"))

    def _on_resume(self, _: tuple[Any, ...], time: int) -> None:
        self._close("paused", time)

    def _ends(self, time: int, leo: int, hw: int) -> None:
        self.lane.leo.append((time, leo))
        self.lane.hw.append((time, hw))

    def _cut(self, event: tuple[Any, ...], time: int, leo: int) -> None:
        self.lane.leo.append((time, leo))
        if self.lane.hw[-1][1] > leo:
            self.lane.hw.append((time, leo))
        if self._offset is not None and leo <= self._offset:
            self._end_life(event, time)

    def _end_life(self, event: tuple[Any, ...], time: int) -> None:
        life = self.lane.lives[-1] if self.lane.lives else None
        if life is None or life.ended_by is not None:
            return
        if life.start == time and event[KIND] == "log-start":  # it was not back after all
            self.lane.lives.pop()
        else:
            life.end, life.ended_by = time, event

    def _term(self, term: Term) -> None:
        self._close_term(term.start)
        self.lane.terms.append(term)

    def _close_term(self, time: int) -> None:
        if self.lane.terms and self.lane.terms[-1].end == self._end:
            self.lane.terms[-1].end = time

    def _close(self, kind: str, time: int) -> None:
        for span in self.lane.spans:
            if span.kind == kind and span.end == self._end:
                span.end = time


def _fault_spans(history: History, node: int, end: int) -> list[Span]:
    """The network and leadership faults that were aimed at this node."""
    spans: dict[int, Span] = {}
    for time, action, index, kind, detail in history.nemesis:
        if (
            action == "strike"
            and kind in (*LINK_FAULTS, *CONTROLLER_LINKS, "disconnect")
            and detail.get("node") == node
        ):
            spans[index] = Span(time, end, "fault", kind)
        elif action == "heal":
            for healed, span in spans.items():
                if index in (healed, -1):
                    span.end = min(span.end, time)
    return list(spans.values())
