"""Which operations a timeline shows, and where: a column for each process, a row for each moment at which something happened.

As in Jepsen's timeline, rows are in the order of events, not in proportion to time: an operation is as high as there are events
while it lasts. Source: ``jepsen.checker.timeline``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tidemark.checkers.history.history import History, Op
from tidemark.checkers.verdict.verdict import Anomaly
from tidemark.harness.report.fault_spans import FaultSpan, fault_spans
from tidemark.harness.report.operations import NONE, OUTCOMES, Ints, Operations, halves_of
from tidemark.harness.report.record_story import records_of

MOST_OPERATIONS: Final = 1500
_MOST_WORDS: Final = 700
_MOST_SHORT: Final = 40


class NothingThereError(ValueError):
    """No operation lies in the window that was asked for; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class Block:
    """One operation. Rows are counted from 0; `until` is the row of its end, or the one after the last.

    Attributes:
        outcome: of `OUTCOMES`, or ``open`` if it never ended.
        cut: whether it began before the first row.
        found: whether it is about a record of which something was found.
        short, hover: words for the block, and for who points at it.
    """

    number: int
    column: int
    row: int
    until: int
    outcome: str
    cut: bool
    found: bool
    short: str
    hover: str


@dataclass(frozen=True, slots=True)
class FaultBar:
    """A fault beside the rows during which it lasted."""

    row: int
    until: int
    lane: int
    words: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """What is shown.

    Attributes:
        columns: names of processes.
        times: of each row, µs.
        total: operations in all.
        before, after, open_before: those left out because they ended before the window, began after what is shown, or began before
            it and never ended.
        by_order: whether the history has only an order.
        around: what it is around, as words; empty if it is everything, or what was asked for.
        lanes: of faults.
    """

    columns: list[str]
    times: list[int]
    blocks: list[Block]
    faults: list[FaultBar]
    lanes: int
    total: int
    before: int
    after: int
    open_before: int
    by_order: bool
    around: str


def timeline_of(
    history: History,
    anomalies: Sequence[Anomaly],
    window: tuple[float | None, float | None] = (None, None),
    operations: Operations | None = None,
) -> Timeline:
    """What a timeline of a history shows.

    Args:
        history: what happened.
        anomalies: what was found, the most telling one first; without a window the operations around that are shown.
        window: from when to when, seconds; of more than `MOST_OPERATIONS` the first are shown.
        operations: those of the history, if somebody has them already.

    Raises:
        NothingThereError: there is no operation in the window.
    """
    operations = Operations.of(history) if operations is None else operations
    spans = fault_spans(history, max([operations.span[1], *(entry[0] for entry in history.nemesis)]))
    chosen, first, around = _chosen(operations, anomalies, window)
    rows = _rows(operations, chosen, first)
    times = [time for time, _ in rows]
    bars, lanes = _fault_bars(spans, times) if operations.has_times else ([], 0)
    columns, column_of = _columns(operations, chosen)
    shown = np.zeros(len(operations), np.bool_)
    shown[chosen] = True
    earlier = ~shown & (operations.began < first)
    never = operations.completion == NONE
    return Timeline(
        columns,
        times,
        _blocks(history, operations, chosen, (rows, column_of), _wanted(anomalies)),
        bars,
        lanes,
        len(operations),
        int(np.count_nonzero(earlier & ~never)),
        int(np.count_nonzero(~shown & ~earlier)),
        int(np.count_nonzero(earlier & never)),
        not operations.has_times,
        around,
    )


def _blocks(
    history: History,
    operations: Operations,
    chosen: Ints,
    places: tuple[list[tuple[int, int]], dict[int, int]],
    wanted: dict[str, set[Any]],
) -> list[Block]:
    rows, column_of = places
    row_of = {half: row for row, (_, half) in enumerate(rows)}
    numbers = np.concatenate((operations.invocation[chosen], operations.completion[chosen]))
    words = halves_of(history, numbers[numbers != NONE])
    blocks = []
    for number in chosen.tolist():
        invocation, completion = int(operations.invocation[number]), int(operations.completion[number])
        start, end = words.get(invocation), words.get(completion)
        begins = invocation if invocation != NONE else completion
        row = row_of.get(begins, 0)
        blocks.append(
            Block(
                number,
                column_of[int(operations.process[number])],
                row,
                max(row_of.get(completion, len(rows)), row + 1),
                OUTCOMES[operations.outcome[number]] if completion != NONE else "open",
                begins not in row_of,
                _is_wanted((start, end), wanted),
                _short(start, end),
                _hover(start, end, timed=operations.has_times),
            )
        )
    return blocks


def _us(seconds: float | None, otherwise: int) -> int:
    return otherwise if seconds is None else round(seconds * 1_000_000)


def _chosen(
    operations: Operations, anomalies: Sequence[Anomaly], window: tuple[float | None, float | None]
) -> tuple[Ints, int, str]:
    """The operations to show, the first moment, and what they are around. Of those that began before that moment, the ones that
    ended after it are shown, and the ones that never ended are not.
    """
    total, begin = len(operations), operations.span[0]
    if window != (None, None) and total:
        low, high = _us(window[0], begin), _us(window[1], operations.span[1])
        inside = np.flatnonzero((operations.began <= high) & (np.maximum(operations.ended, operations.began) >= low))
        if not len(inside):
            last = operations.span[1]
            raise NothingThereError(
                f"no operation lies between {low / 1e6:g} s and {high / 1e6:g} s; they lie between {begin / 1e6:g} s and "
                f"{last / 1e6:g} s"
            )
        return inside[:MOST_OPERATIONS], low, ""
    if total <= MOST_OPERATIONS:
        return np.arange(total), begin, ""
    if anomalies:
        middle = int(np.searchsorted(operations.began, anomalies[0].time))
        place = min(max(middle - MOST_OPERATIONS // 2, 0), total - MOST_OPERATIONS)
        around = f"{anomalies[0].name} at {anomalies[0].time / 1e6:.3f} s"
    else:
        place, around = 0, "the beginning"
    first = int(operations.began[place])
    lasting = np.flatnonzero((operations.began[:place] < first) & (operations.ended[:place] >= first))
    chosen = np.concatenate((lasting, np.arange(place, place + MOST_OPERATIONS)))
    return chosen[:MOST_OPERATIONS], first, around


def _rows(operations: Operations, chosen: Ints, first: int) -> list[tuple[int, int]]:
    """The halves that have a row, in order: times and numbers. What lies before `first` has none."""
    found: list[tuple[int, int]] = []
    for halves, times in ((operations.invocation, operations.began), (operations.completion, operations.ended)):
        there = chosen[(halves[chosen] != NONE) & (times[chosen] >= first)]
        found += zip(times[there].tolist(), halves[there].tolist(), strict=True)
    return sorted(found)


def _columns(operations: Operations, chosen: Ints) -> tuple[list[str], dict[int, int]]:
    """The processes that are shown, numbers by number, then names by letters and the numbers in them."""
    there = np.unique(operations.process[chosen]).tolist()
    there.sort(key=lambda process: _natural(operations.processes[process]))
    return [str(operations.processes[process]) for process in there], {process: at for at, process in enumerate(there)}


def _natural(name: str | int) -> tuple[Any, ...]:
    if isinstance(name, int):
        return (0, "", name, "")
    letters = name.rstrip("0123456789")
    digits = name[len(letters) :]
    return (1, letters, int(digits) if digits and digits.isdecimal() else -1, name)


def _wanted(anomalies: Sequence[Anomaly]) -> dict[str, set[Any]]:
    """Key → the records of which something was found."""
    wanted: dict[str, set[Any]] = {}
    for anomaly in anomalies:
        if anomaly.partition:
            wanted.setdefault(anomaly.partition, set()).update(
                value for value in records_of(anomaly) if value.__class__ in (int, str)
            )
    return wanted


def _is_wanted(halves: Collection[Op | None], wanted: dict[str, set[Any]]) -> bool:
    return bool(wanted) and any(
        key in wanted and value in wanted[key] for half in halves if half is not None for key, value in _records(half)
    )


def _records(op: Op) -> list[tuple[str, Any]]:
    """The keys and values that half an operation on a log is about."""
    found: list[tuple[str, Any]] = []
    if op.f not in ("send", "poll", "txn") or not isinstance(op.value, list | tuple):
        return found
    for micro in op.value:
        if micro[0] == "send":
            found.append((micro[1], micro[2][1] if isinstance(micro[2], tuple) else micro[2]))
        elif micro[0] == "poll" and len(micro) > 1 and isinstance(micro[1], dict):
            found += [(key, record[1]) for key, records in micro[1].items() for record in records]
    return [(key, value) for key, value in found if value.__class__ in (int, str)]


def _short(start: Op | None, end: Op | None) -> str:
    """`send t-0 7@3`, `poll t-0 3–9 (7)`: what fits into a block."""
    op = end if end is not None and end.value is not None else start or end
    if op is None:
        return ""
    words = [op.f]
    if op.f in ("send", "poll", "txn") and isinstance(op.value, list | tuple):
        for micro in op.value:
            if micro[0] == "send":
                offset, value = micro[2] if isinstance(micro[2], tuple) else (None, micro[2])
                words.append(f"{micro[1]} {value}{'' if offset is None else f'@{offset}'}")
            elif len(micro) > 1 and isinstance(micro[1], dict):
                words += [f"{key} {_span(records)}" for key, records in micro[1].items()]
    elif op.value is not None:
        words.append(str(_plain(op.value)))
    text = " ".join(words)
    return text if len(text) <= _MOST_SHORT else f"{text[: _MOST_SHORT - 1]}…"


def _span(records: Sequence[Any]) -> str:
    """What of a key a poll returned."""
    if not records:
        return "–"
    if len(records) == 1:
        return f"{records[0][1]}@{records[0][0]}"
    return f"{records[0][0]}–{records[-1][0]} ({len(records)})"


def _hover(start: Op | None, end: Op | None, *, timed: bool) -> str:
    op = end or start
    assert op is not None  # noqa: S101 - an operation has a half
    lines = [f"{op.process} {op.f}: {end.type if end else 'never ended'}"]
    if timed and start is not None:
        until = f" to {end.time / 1e6:.6f} s, {(end.time - start.time) / 1000:g} ms" if end is not None else ""
        lines.append(f"{start.time / 1e6:.6f} s{until}")
    elif timed and end is not None:
        lines.append(f"at {end.time / 1e6:.6f} s; no invocation was recorded")
    if op.error:
        lines.append(f"error: {op.error}")
    if start is not None and start.value is not None:
        lines.append(f"asked: {_told(start.value)}")
    if end is not None and end.value is not None and (start is None or end.value != start.value):
        lines.append(f"answered: {_told(end.value)}")
    if op.final:
        lines.append("a final read")
    return "\n".join(lines)


def _told(value: Any) -> str:  # noqa: ANN401 - as Op has it
    text = str(_plain(value))
    return text if len(text) <= _MOST_WORDS else f"{text[: _MOST_WORDS - 1]}…"


def _plain(value: Any) -> Any:  # noqa: ANN401 - as Op has it
    """Tuples as lists."""
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return value


def _fault_bars(spans: Sequence[FaultSpan], times: Sequence[int]) -> tuple[list[FaultBar], int]:
    """The faults that last while something is shown, in as many lanes as they need."""
    bars: list[FaultBar] = []
    free: list[int] = []
    for span in spans:
        if not times or span.end < times[0] or span.start > times[-1]:
            continue
        row, until = (int(np.searchsorted(times, time)) for time in (span.start, span.end))
        until = max(until, row + 1)
        lane = next((lane for lane, at in enumerate(free) if at <= row), len(free))
        free[lane:lane + 1] = [until]  # fmt: skip
        ending = f" to {span.end / 1e6:.3f} s" if span.end > span.start else ""
        open_ = "" if span.healed else " (nobody noted its end)"
        bars.append(FaultBar(row, until, lane, f"{span.kind}: {span.start / 1e6:.3f} s{ending}{open_}"))
    return bars, len(free)
