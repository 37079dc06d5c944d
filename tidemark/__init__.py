"""Tidemark: find out whether a replicated log keeps its promises.

These are the public names, all of them (docs/api.md); everything else is private by being elsewhere. Each is loaded when it is
first asked for, so that a node, which imports what it needs from ``tidemark.nodes``, needs no package for it.
"""

from __future__ import annotations

TYPE_CHECKING = (
    False  # typing, as importlib, takes its time to load, in which Ctrl-C would strike (tidemark/command.py)
)
if TYPE_CHECKING:  # ``X as X``: a type checker may take it from here
    from typing import Any

    from tidemark.checkers import Anomaly as Anomaly
    from tidemark.checkers import History as History
    from tidemark.checkers import Op as Op
    from tidemark.checkers import Verdict as Verdict
    from tidemark.checkers import check as check
    from tidemark.checkers.own_checkers import Checker as Checker
    from tidemark.harness.clients.client import Client as Client
    from tidemark.harness.clients.client import Outcome as Outcome
    from tidemark.harness.clients.client import invoke as invoke
    from tidemark.harness.clients.workload import Workload as Workload
    from tidemark.harness.clients.workload import WorkloadOrder as WorkloadOrder
    from tidemark.harness.runs.judged import JudgedRun as JudgedRun
    from tidemark.harness.simulator.execute import execute as execute
    from tidemark.harness.systems.capabilities import Elects as Elects
    from tidemark.harness.systems.capabilities import HandsOverController as HandsOverController
    from tidemark.harness.systems.capabilities import LaysOutLogs as LaysOutLogs
    from tidemark.harness.systems.capabilities import ReadsLogs as ReadsLogs
    from tidemark.harness.systems.capabilities import Reassigns as Reassigns
    from tidemark.harness.systems.capabilities import Retains as Retains
    from tidemark.harness.systems.capabilities import SpreadsRules as SpreadsRules
    from tidemark.harness.systems.capabilities import VotesItself as VotesItself
    from tidemark.harness.systems.capabilities import Watched as Watched
    from tidemark.harness.systems.deployment import Deployment as Deployment
    from tidemark.harness.systems.outside.real_system import Install as Install
    from tidemark.harness.systems.outside.real_system import Jar as Jar
    from tidemark.harness.systems.outside.real_system import LogEntry as LogEntry
    from tidemark.harness.systems.outside.real_system import Node as Node
    from tidemark.harness.systems.outside.real_system import Process as Process
    from tidemark.harness.systems.outside.real_system import RealSystem as RealSystem
    from tidemark.harness.systems.outside.real_system import Script as Script
    from tidemark.harness.systems.outside.real_system import View as View
    from tidemark.harness.systems.speaks_kafka import SpeaksKafka as SpeaksKafka
    from tidemark.harness.systems.system import System as System
    from tidemark.harness.systems.system import SystemRefusalError as SystemRefusalError
    from tidemark.nemesis import Fault as Fault
    from tidemark.nemesis import ObjectWorkload as ObjectWorkload
    from tidemark.nemesis import Plan as Plan
    from tidemark.nemesis import Trigger as Trigger
    from tidemark.nemesis import WorkloadSpec as WorkloadSpec
    from tidemark.nemesis import generate_plan as generate_plan
    from tidemark.nodes.core.cluster import ClusterSpec as ClusterSpec
    from tidemark.nodes.core.epoch_cache import EpochEnd as EpochEnd
    from tidemark.nodes.core.truncation import LogView as LogView
    from tidemark.nodes.core.truncation import Question as Question
    from tidemark.nodes.core.truncation import Step as Step
    from tidemark.nodes.core.truncation import TruncationRule as TruncationRule

_PLACES = {
    "checkers": "Anomaly History Op Verdict check",
    "checkers.own_checkers": "Checker",
    "harness.clients.client": "Client Outcome invoke",
    "harness.clients.workload": "Workload WorkloadOrder",
    "harness.runs.judged": "JudgedRun",
    "harness.simulator.execute": "execute",
    "harness.systems.capabilities": (
        "Elects HandsOverController LaysOutLogs ReadsLogs Reassigns Retains SpreadsRules VotesItself Watched"
    ),
    "harness.systems.outside.real_system": "Install Jar LogEntry Node Process RealSystem Script View",
    "harness.systems.speaks_kafka": "SpeaksKafka",
    "harness.systems.deployment": "Deployment",
    "harness.systems.system": "System SystemRefusalError",
    "nemesis": "Fault ObjectWorkload Plan Trigger WorkloadSpec generate_plan",
    "nodes.core.cluster": "ClusterSpec",
    "nodes.core.epoch_cache": "EpochEnd",
    "nodes.core.truncation": "LogView Question Step TruncationRule",
}
_PLACE_OF = {name: place for place, names in _PLACES.items() for name in names.split()}

__all__ = list(_PLACE_OF)


def __getattr__(name: str) -> Any:  # noqa: ANN401 - as the name is
    """Load one of the public names (PEP 562)."""
    from importlib import import_module

    if name not in _PLACE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"{__name__}.{_PLACE_OF[name]}"), name)
    return found


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted({*globals(), *__all__})
