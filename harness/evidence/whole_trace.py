"""One collection of evidence: what all nodes traced, looked through and put in order with what the harness saw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tidemark.harness.evidence.replica_evidence import ReplicaEvidence
from tidemark.harness.evidence.trace_history import TracedAnswer, TraceHistory

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping

    from tidemark.checkers.history.trace_events import TraceEvent
    from tidemark.harness.evidence.replica_evidence import Segment


class WholeTrace(NamedTuple):
    """The trace in order of time, what leaders told followers about where logs end, and what was seen of the evidence."""

    trace: list[TraceEvent]
    answers: list[TracedAnswer]
    seen: ReplicaEvidence


def whole_trace(
    traced: Mapping[int, list[list[Any]]],
    clocks_us: Mapping[int, int],
    began_us: int,
    *,
    noted: list[TraceEvent],
    logs: Mapping[int, Mapping[str, Segment]],
    down: frozenset[int],
    interpret: Callable[[ReplicaEvidence], ReplicaEvidence],
    excused: Container[tuple[int, int]] = (),
) -> WholeTrace:
    """Put it together.

    Args:
        traced: node → its events, as :func:`tidemark.harness.evidence.trace_history.parse_trace` gives them.
        clocks_us: node → how far its clock is ahead of the one that measured ``began_us``; 0 where it is not known.
        began_us: time 0 of the run.
        noted: the harness's own events.
        logs: node → directory → what its files hold.
        down: brokers without a process when that was read.
        interpret: the system's look through it all.
        excused: processes whose giving up is told as a crash (node, incarnation).

    Raises:
        RunError: a traced batch cannot be read.
    """
    history = TraceHistory(began_us)
    for node, events in traced.items():
        history.add(node, events, clocks_us.get(node, 0))
    seen = interpret(ReplicaEvidence(history.events, logs, down=down))
    return WholeTrace(history.trace(noted, seen, excused), history.answers, seen)
