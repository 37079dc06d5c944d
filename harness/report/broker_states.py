"""What each broker was at a moment, as far as the trace tells: the table that goes with a space-time picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tidemark.harness.report.lanes import Lane
from tidemark.harness.report.why_section import Repair, SideBySide
from tidemark.nemesis import KINDS
from tidemark.nemesis.kind import OnLinks

CUTS: Final = {word for word, kind in KINDS.items() if isinstance(kind.doing, OnLinks) and kind.doing.effect == "cut"}
CUTS.add("disconnect")
"""Faults that cut a broker off others."""


@dataclass(frozen=True, slots=True)
class BrokerState:
    """One broker at the end of one µs; empty or None is what nobody told.

    Attributes:
        node: its id.
        reach: ``up``, ``cut off``, ``paused`` or ``down``; behind it how it stopped, or the faults of links aimed at it.
        role: ``leader``, ``follows 2`` or ``no leader``, as the broker itself took it. epoch: its leader epoch.
        log_end, high_watermark: offsets.
    """

    node: int
    reach: str = ""
    role: str = ""
    epoch: int | None = None
    log_end: int | None = None
    high_watermark: int | None = None


def states_at(lanes: Sequence[Lane], time: int) -> list[BrokerState]:
    """Of each lane, at `time`, µs."""
    return [_state(lane, time) for lane in lanes]


def states_of_both(repair: Repair, row: SideBySide, failing: str) -> Iterator[tuple[str, BrokerState]]:
    """Under which variant, and what each broker was then: ``both`` where it was the same. Each run is looked at when it takes its
    own step of the row, or where it takes none, when the other does; `failing` is the variant that the failing one ran.
    """
    told = [deed for deed in (row.failing, row.repaired) if deed is not None]
    times = [(deed or told[0]).time for deed in (row.failing, row.repaired)]
    one, other = (
        {state.node: state for state in states_at(lanes, time)} for lanes, time in zip(repair.lanes, times, strict=True)
    )
    for node in sorted(one | other):
        if one.get(node) == other.get(node):
            yield "both", one[node]
        else:
            yield from ((under, of[node]) for under, of in ((failing, one), (repair.variant, other)) if node in of)


def _state(lane: Lane, time: int) -> BrokerState:
    if lane.heard is None or time < lane.heard:
        return BrokerState(lane.node)
    now = [span for span in lane.spans if span.start <= time < span.end]
    down = [span.label for span in now if span.kind == "stopped"]
    if down:
        return BrokerState(lane.node, f"down ({down[-1]})")
    links = list(dict.fromkeys(span.label for span in now if span.kind == "fault"))
    paused = any(span.kind == "paused" for span in now)
    reach = "paused" if paused else "cut off" if CUTS.intersection(links) else "up"
    reach += f" ({', '.join(links)})" if links else ""
    term = next((term for term in reversed(lane.terms) if term.start <= time < term.end), None)
    role = ""
    if term is not None:
        role = "leader" if term.leads else f"follows {term.leader}" if term.leader > 0 else "no leader"
    since = max((at for at in lane.silences if at <= time), default=-1)
    return BrokerState(
        lane.node,
        reach,
        role,
        None if term is None else term.epoch,
        _last(lane.leo, since, time),
        _last(lane.hw, since, time),
    )


def _last(steps: Sequence[tuple[int, int]], since: int, time: int) -> int | None:
    """What was told last, after `since`; the first step is what a lane begins with, and nobody told it."""
    return next((value for at, value in reversed(steps[1:]) if since < at <= time), None)
