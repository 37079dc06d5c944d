"""The whole run on one axis of time: faults, leaders, in-sync replicas, log ends and high watermarks, latency, throughput.

Numbers only, in the coordinates of a drawing that is `WIDTH` wide: `whole_run.html.j2` draws it, and a small script inside the page
zooms. What a history does not tell (of clients alone it tells nothing about replicas) has no panel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tidemark.checkers.history.history import History
from tidemark.checkers.history.trace_events import KIND, PARTITION, TIME, Elect, Isr, IsrChange, Lead
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly
from tidemark.harness.report.fault_spans import episodes, fault_spans
from tidemark.harness.report.lanes import lanes_of
from tidemark.harness.report.operations import Operations
from tidemark.harness.report.story import partition_of
from tidemark.harness.report.whole_run_panels import WIDTH, Panel, Panels, Scale
from tidemark.harness.report.words import listed, seconds

MOST_PARTITIONS: Final = 4
MOST_MARKS: Final = 40


@dataclass(frozen=True, slots=True)
class WholeRun:
    """The drawing.

    Attributes:
        begin, end: µs.
        shades: times of faults, left and width.
        ticks: times under the panels, and their words.
        missing: what has no panel, and why. left_out: what has none for want of room.
        table: elections and in-sync replicas as words.
        marks: violations.
    """

    begin: int
    end: int
    height: float
    panels: tuple[Panel, ...]
    shades: tuple[tuple[float, float], ...]
    ticks: tuple[tuple[float, str], ...]
    missing: str
    left_out: str
    table: tuple[tuple[str, str], ...]
    marks: tuple[tuple[float, str], ...] = ()

    @property
    def width(self) -> float:
        """Of the panels."""
        return WIDTH


def whole_run(history: History, operations: Operations, anomalies: Sequence[Anomaly] = ()) -> WholeRun | None:
    """The drawing of a history; None of one that has no times.

    Args:
        history: what happened.
        operations: those of the history.
        anomalies: what was found, the most telling one first: its partition is drawn first, and violations are marked.
    """
    begin, end = _span(history, operations)
    if end <= begin or (len(operations) and not operations.has_times):
        return None
    scale = Scale(begin, end)
    faults = fault_spans(history, end)
    partitions = _partitions(history, partition_of(history, anomalies[0]) if anomalies else "")
    panels = Panels(scale)
    panels.faults(faults)
    lanes = {name: lanes_of(history, name, None) for name in partitions[:MOST_PARTITIONS]}
    for name, of_name in lanes.items():
        panels.leaders(name, of_name)
        panels.isr(name, _isr_steps(history, name), [lane.node for lane in of_name])
        panels.log_ends(name, of_name)
    if len(operations):
        panels.latency(operations)
        panels.throughput(operations)
    hidden = partitions[MOST_PARTITIONS:]
    return WholeRun(
        begin,
        end,
        panels.top,
        tuple(panels.found),
        tuple((scale(one.start), max(scale(one.end) - scale(one.start), 0.8)) for one in episodes(faults)),
        tuple(scale.ticks()),
        ""
        if lanes
        else "The history tells nothing of replicas, so there are no leaders, in-sync replicas and logs to draw.",
        f"{len(hidden)} more partitions are not drawn." if hidden else "",
        tuple(_events(history, partitions[:MOST_PARTITIONS])),
        _marks(anomalies, scale),
    )


def _marks(anomalies: Sequence[Anomaly], scale: Scale) -> tuple[tuple[float, str], ...]:
    """A line for each moment of a violation, the first few."""
    found: dict[float, list[str]] = {}
    for anomaly in anomalies:
        if anomaly.verdict == VIOLATION:
            found.setdefault(scale(anomaly.time), []).append(anomaly.name)
    return tuple((x, listed(list(dict.fromkeys(names)))) for x, names in sorted(found.items())[:MOST_MARKS])


def _span(history: History, operations: Operations) -> tuple[int, int]:
    times = [entry[TIME] for entry in (*history.trace, *history.nemesis)]
    times += list(operations.span) if len(operations) else []
    if not times:
        return 0, 0
    end = max([*times, int(history.meta.get("end_us", 0))])
    begin = min(times)
    return (0 if begin <= 10 * (end - begin) else begin), end


def _partitions(history: History, first: str) -> list[str]:
    known = [str(name) for name in history.meta.get("replicas", {})] if history.trace else []
    known += [
        event[PARTITION] for event in history.trace if event[KIND] in {"lead", "follow", "append"} and event[PARTITION]
    ]
    names = list(dict.fromkeys(known))
    return sorted(names, key=lambda name: (name != first, names.index(name)))


_WithIsr = dict[str, type[Elect | IsrChange | Lead | Isr]]


def _isr_steps(history: History, partition: str) -> list[tuple[int, tuple[int, ...]]]:
    """What the controller committed; where it is not traced, what leaders took for it."""
    controller: _WithIsr = {"elect": Elect, "isr-change": IsrChange}
    leaders: _WithIsr = {"lead": Lead, "isr": Isr}
    for kinds in (controller, leaders):
        of = [event for event in history.trace if event[PARTITION] == partition and event[KIND] in kinds]
        if of:
            return [(event[TIME], tuple(kinds[event[KIND]](event).isr)) for event in of]
    return []


def _events(history: History, partitions: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Elections and changes of the ISR as words, for who cannot see the drawing."""
    for event in history.trace:
        time, partition = event[TIME], event[PARTITION]
        if partition not in partitions:
            continue
        if event[KIND] == "elect":
            elect = Elect(event)
            whom = f"broker {elect.leader} leads" if elect.leader > 0 else "nobody leads"
            in_sync = _members(elect.isr)
            yield (
                seconds(time, 3),
                f"{partition}: {whom} in epoch {elect.leader_epoch} ({elect.how}); in sync: {in_sync}",
            )
        elif event[KIND] == "isr-change":
            yield seconds(time, 3), f"{partition}: in sync: {_members(IsrChange(event).isr)}"


def _members(nodes: Sequence[int]) -> str:
    return ", ".join(map(str, nodes)) or "nobody"
