"""Tidemark: find out whether a replicated log keeps its promises.

These are the public names, all of them (docs/api.md); everything else is private by being elsewhere. Each is loaded when it is
first asked for, so that a node, which imports what it needs from ``tidemark.nodes``, needs no package for it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tidemark.checkers import Anomaly, History, Op, Verdict, check
    from tidemark.checkers.own_checkers import Checker
    from tidemark.harness.clients.client import Client, Outcome, invoke
    from tidemark.harness.clients.workload import Workload, WorkloadOrder
    from tidemark.harness.runs.judged import JudgedRun
    from tidemark.harness.simulator.execute import execute
    from tidemark.harness.systems.capabilities import (
        Elects,
        HandsOverController,
        LaysOutLogs,
        ReadsLogs,
        Reassigns,
        Retains,
        SpreadsRules,
        VotesItself,
        Watched,
    )
    from tidemark.harness.systems.speaks_kafka import SpeaksKafka
    from tidemark.harness.systems.system import Deployment, System, SystemRefusalError
    from tidemark.nemesis import Fault, Plan, Trigger, WorkloadSpec, generate_plan
    from tidemark.nodes.core.cluster import ClusterSpec
    from tidemark.nodes.core.epoch_cache import EpochEnd
    from tidemark.nodes.core.truncation import LogView, Question, Step, TruncationRule

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
    "harness.systems.speaks_kafka": "SpeaksKafka",
    "harness.systems.system": "Deployment System SystemRefusalError",
    "nemesis": "Fault Plan Trigger WorkloadSpec generate_plan",
    "nodes.core.cluster": "ClusterSpec",
    "nodes.core.epoch_cache": "EpochEnd",
    "nodes.core.truncation": "LogView Question Step TruncationRule",
}
_PLACE_OF = {name: place for place, names in _PLACES.items() for name in names.split()}

__all__ = [  # what type checkers read; a test holds it against the names above, and against docs/api.md
    "Anomaly",
    "Checker",
    "Client",
    "ClusterSpec",
    "Deployment",
    "Elects",
    "EpochEnd",
    "Fault",
    "HandsOverController",
    "History",
    "JudgedRun",
    "LaysOutLogs",
    "LogView",
    "Op",
    "Outcome",
    "Plan",
    "Question",
    "ReadsLogs",
    "Reassigns",
    "Retains",
    "SpeaksKafka",
    "SpreadsRules",
    "Step",
    "System",
    "SystemRefusalError",
    "Trigger",
    "TruncationRule",
    "Verdict",
    "VotesItself",
    "Watched",
    "Workload",
    "WorkloadOrder",
    "WorkloadSpec",
    "check",
    "execute",
    "generate_plan",
    "invoke",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - as the name is
    """Load one of the public names (PEP 562)."""
    if name not in _PLACE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"{__name__}.{_PLACE_OF[name]}"), name)
    return found


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted({*globals(), *__all__})
