"""The turning points of a trace: its events but for the appends and the moves of high watermarks, which are nine tenths of it.

Whoever asks for elections, stops and the like goes through these only.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.checkers.history.trace_events import TraceEvent

TurningPoint = tuple[int, TraceEvent]
"""The event's place in the trace, and the event."""

WITH_EACH_BATCH = frozenset({"append", "hw"})


def turning_points(trace: Sequence[TraceEvent]) -> list[TurningPoint]:
    """All of a trace, in its order."""
    return [
        (index, event) for index, event in enumerate(trace) if event[2] not in WITH_EACH_BATCH
    ]  # by place, for speed
