"""The replicas at the end of a run with the leader epochs that their system itself counts, as the trace has them.

A target on a system that counts epochs otherwise than scripts do tells them in the script's numbers, so that claims can be held
against it; and logs of an old format have no epochs in their files at all.
"""

from __future__ import annotations

from collections.abc import Iterable

from tidemark.checkers.history.trace_events import (
    KIND,
    NODE,
    Append,
    Final,
    Hole,
    Recovered,
    Stop,
    TraceEvent,
    Truncate,
)
from tidemark.harness.scenario.play import ScenarioOutcome
from tidemark.harness.scenario.snapshots import ReplicaSnapshot

_Log = dict[int, tuple[int, int]]
"""Offset → (leader epoch, value)."""


def replicas_in_own_epochs(outcome: ScenarioOutcome) -> list[ReplicaSnapshot]:
    """All replicas at rest. What the trace does not know is left as the target told it."""
    logs = _replayed(outcome.history.trace)
    finals = {final.node: final for final in Final.among(outcome.history.trace)}
    name = outcome.scenario.records.name
    found = []
    for state in outcome.narrative[-1].replicas:
        traced = {offset: (epoch, name(value)) for offset, (epoch, value) in logs.get(state.broker, {}).items()}
        log = tuple(
            traced[offset] if offset in traced and traced[offset][1] == record else (epoch, record)
            for offset, (epoch, record) in enumerate(state.log, state.start)
        )
        final = finals.get(state.broker)
        epoch, cache = (final.leader_epoch, tuple(final.cache)) if final else (state.epoch, state.cache)
        found.append(state._replace(epoch=epoch, log=log, cache=cache))
    return found


def _replayed(trace: Iterable[TraceEvent]) -> dict[int, _Log]:
    logs: dict[int, _Log] = {}
    for event in trace:
        log = logs.setdefault(event[NODE], {})
        match event[KIND]:
            case Append.kind:
                append = Append(event)
                _cut(log, append.base_offset)
                log.update((append.base_offset + at, (append.epoch, value)) for at, value in enumerate(append.values))
            case Truncate.kind:
                _cut(log, Truncate(event).to)
            case Hole.kind:
                _cut(log, Hole(event).begin)
            case Recovered.kind:
                _cut(log, Recovered(event).leo)
            case Stop.kind if Stop(event).how == "disk":
                log.clear()
    return logs


def _cut(log: _Log, end: int) -> None:
    for offset in [offset for offset in log if offset >= end]:
        del log[offset]
