"""`broker-crashed`: a broker's process ended though neither the nemesis nor its protocol ended it.

Out of memory, a bug, a bad installation: the system under test did that by itself, whoever is to blame. What it had told until then
is as good as what any process tells that is killed, and what the others tell is as good as ever.

>>> from tidemark.checkers import History, check
>>> death = {"node": 2, "incarnation": 1, "time": 5, "how": "broken-off", "log": "OutOfMemoryError"}
>>> print(check(History.of(died=[death])).anomalies[0].message)
Broker 2 crashed at 0.000005 s, and nobody had asked it to: OutOfMemoryError.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tidemark.checkers.history.trace_events import KIND, NODE, Start, TraceEvent
from tidemark.checkers.replicas.stuck import BROKER_STOPPED
from tidemark.checkers.verdict.verdict import VIOLATION, Anomaly, seconds

NAME = "broker-crashed"
BROKEN_OFF = "broken-off"
"""How a process ended that neither the nemesis nor its protocol ended: out of memory, a bug, a bad installation."""


def crashes(meta: Mapping[str, Any]) -> list[Anomaly]:
    """The crashes that the meta line tells of."""
    return [_anomaly(death) for death in meta.get("died") or () if death.get("how") == BROKEN_OFF]


def _anomaly(death: Mapping[str, Any]) -> Anomaly:
    node, time = death["node"], death.get("time", 0)
    words = str(death.get("log", "")).strip().split("\n")[-1].rstrip(".") or "it did not say why"
    evidence = {"node": node, "incarnation": death.get("incarnation"), "words": words}
    who = f"Broker {node}" if node else "The controller"
    message = f"{who} crashed at {seconds(time)}, and nobody had asked it to: {words}."
    return Anomaly(NAME, VIOLATION, time, "", message, evidence=evidence)


def told_once(anomalies: Sequence[Anomaly], trace: Sequence[TraceEvent], meta: Mapping[str, Any]) -> list[Anomaly]:
    """Without the `broker-stopped` of processes that crashed, though by their own account they gave up."""
    crashed = {
        (death["node"], death.get("incarnation")) for death in meta.get("died") or () if death.get("how") == BROKEN_OFF
    }
    lives: dict[int, int] = {}
    same: set[int] = set()
    for index, event in enumerate(trace) if crashed else ():
        node = event[NODE]
        if event[KIND] == "start":
            lives[node] = Start(event).incarnation
        elif event[KIND] == "stop" and (node, lives.get(node, 1)) in crashed:
            same.add(index)
    return [one for one in anomalies if one.name != BROKER_STOPPED or one.evidence["trace_index"] not in same]
