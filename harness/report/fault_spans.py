"""From when to when each fault lasted, as the nemesis noted it: what the figures shade."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tidemark.checkers.history.history import History, NemesisOp
from tidemark.checkers.history.jepsen_nemesis import NemesisHalf, strikes_and_healings
from tidemark.harness.report.operations import NEMESIS
from tidemark.nemesis.kinds import is_over_at_once

GENERAL_HEAL = -1
"""The index of the healing of everything (docs/history.md)."""


@dataclass(frozen=True, slots=True)
class FaultSpan:
    """One fault; times in µs. `healed` is false if nobody noted its end, and the history's stands for it."""

    start: int
    end: int
    kind: str
    healed: bool = True


@dataclass(frozen=True, slots=True)
class Episode:
    """A time without a break in which some fault lasted."""

    start: int
    end: int
    kinds: tuple[str, ...]  # in the order in which they struck, each once
    healed: bool


def fault_spans(history: History, end: int) -> list[FaultSpan]:
    """The faults of a history that ends at `end` µs, in the order in which they struck."""
    ours = [*history.nemesis, *_of_operations(history)]
    healed: dict[int, int] = {}
    general: list[int] = []
    for time, what, index, _, _ in ours:
        if what == "heal":
            healed.setdefault(index, time)
            if index == GENERAL_HEAL:
                general.append(time)
    spans = []
    for time, what, index, kind, detail in ours:
        if what != "strike":
            continue
        until = healed.get(index) if index != GENERAL_HEAL else None
        if until is None and is_over_at_once(kind, detail):
            until = time
        if until is None:
            until = min((at for at in general if at >= time), default=None)
        spans.append(FaultSpan(time, max(time, end if until is None else until), kind, until is not None))
    return sorted(spans, key=lambda span: (span.start, span.end, span.kind))


def _of_operations(history: History) -> Iterable[NemesisOp]:
    """Where operations of EDN are kept with their values, those of the nemesis are among them."""
    halves = [NemesisHalf(op.time, op.f, op.value) for op in history.ops if op.process == NEMESIS]
    return strikes_and_healings(halves)


def episodes(spans: Sequence[FaultSpan]) -> list[Episode]:
    """Faults that overlap or touch are one episode."""
    found: list[Episode] = []
    for span in sorted(spans, key=lambda one: (one.start, one.end)):
        if found and span.start <= found[-1].end:
            last = found[-1]
            kinds = last.kinds if span.kind in last.kinds else (*last.kinds, span.kind)
            found[-1] = Episode(last.start, max(last.end, span.end), kinds, last.healed and span.healed)
        else:
            found.append(Episode(span.start, span.end, (span.kind,), span.healed))
    return found
