"""The replicas at the end of a run with the leader epochs that their system itself counts, as the trace has them.

A target on a system that counts epochs otherwise than scripts do tells them in the script's numbers, so that claims can be held
against it; and logs of an old format have no epochs in their files at all.
"""

from __future__ import annotations

from collections.abc import Iterable

from tidemark.checkers.history.trace_events import TraceEvent
from tidemark.harness.scenario.play import ScenarioOutcome
from tidemark.harness.scenario.snapshots import ReplicaSnapshot

_Log = dict[int, tuple[int, int]]
"""Offset → (leader epoch, value)."""


def replicas_in_own_epochs(outcome: ScenarioOutcome) -> list[ReplicaSnapshot]:
    """All replicas at rest. What the trace does not know is left as the target told it."""
    logs = _replayed(outcome.history.trace)
    finals = {node: fields for _, node, event, _, *fields in outcome.history.trace if event == "final"}
    name = outcome.scenario.records.name
    found = []
    for state in outcome.narrative[-1].replicas:
        traced = {offset: (epoch, name(value)) for offset, (epoch, value) in logs.get(state.broker, {}).items()}
        log = tuple(
            traced[offset] if offset in traced and traced[offset][1] == record else (epoch, record)
            for offset, (epoch, record) in enumerate(state.log, state.start)
        )
        fields = finals.get(state.broker)
        epoch, cache = (fields[1], tuple(fields[4])) if fields else (state.epoch, state.cache)
        found.append(state._replace(epoch=epoch, log=log, cache=cache))
    return found


def _replayed(trace: Iterable[TraceEvent]) -> dict[int, _Log]:
    logs: dict[int, _Log] = {}
    for _, node, event, _, *fields in trace:
        log = logs.setdefault(node, {})
        if event == "append":
            base, epoch, values = fields[:3]
            _cut(log, base)
            log.update((base + at, (epoch, value)) for at, value in enumerate(values))
        elif event in {"truncate", "hole", "recovered"}:
            _cut(log, fields[0])
        elif event == "stop" and fields[0] == "disk":
            log.clear()
    return logs


def _cut(log: _Log, end: int) -> None:
    for offset in [offset for offset in log if offset >= end]:
        del log[offset]
