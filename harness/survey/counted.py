"""What one run comes to in numbers that all systems have, whatever they are: kept beside its verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidemark.checkers.verdict.verdict import GRAVITY
from tidemark.harness.report.fault_words import as_planned
from tidemark.harness.report.faults import whom_it_hit
from tidemark.harness.runs.kept_results import KeptResults

if TYPE_CHECKING:
    from tidemark.checkers import History, Verdict
    from tidemark.harness.runs.judged import JudgedRun
    from tidemark.harness.soak.run_all import Runner
    from tidemark.nemesis import Plan
    from tidemark.nodes.families import AnyVariant

COUNTS = "counts"
MOST = 5
"""So many kinds of findings are told of a run."""
SETS = "set-full"
STALE = ("stale-read-below-hw", "stale-poll")
"""Anomalies that say of a log that somebody read what was out of date."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The numbers of one run.

    Attributes:
        acked: records (of a set: elements) that were acknowledged. lost: of these gone in the end. unknown: of these nobody can
            tell.
        asked, answered: writes that began before the faults ended, and those of them that were acknowledged.
        silent_us: the longest time without an acknowledgement until the faults ended.
        stale: kinds of reads that were out of date; -1 where nobody looks, since the system shows or promises too little.
        struck: what the faults hit, as sentences. found: what the checkers found, violations first, one sentence of each kind.
    """

    acked: int
    lost: int
    unknown: int
    asked: int
    answered: int
    silent_us: int
    stale: int
    struck: tuple[str, ...] = ()
    found: tuple[str, ...] = ()

    @classmethod
    def of(cls, history: History, verdict: Verdict, plan: Plan) -> Counted:
        """Count."""
        is_set = history.meta.get("model") == SETS
        f = "add" if is_set else "send"
        halves = [op for op in history.ops if op.f == f]
        ends = int(history.meta.get("faults_end_us", plan.faults_end_us))
        stats = verdict.stats
        if is_set:
            elements = next((one.evidence for one in verdict.anomalies if one.name == SETS), {})
            acked = len({op.value for op in halves if op.type == "ok"})
            lost, unknown, stale = int(elements.get("lost_count", 0)), 0, int(elements.get("stale_count", 0) > 0)
        else:
            acked, unknown = int(stats["acked"]), int(stats.get("acked_unknown") or 0)
            lost = int(stats["acked_lost_violation"]) + int(stats["acked_lost_permitted"])
            looked = not history.meta.get("untold") or "reads_within" in history.meta
            stale = sum(one.name in STALE for one in verdict.anomalies) if looked else -1
        asked, answered = _answers(halves, ends)
        told = _struck(history, plan), _found(verdict)
        return cls(acked, lost, unknown, asked, answered, _silent(halves, ends), stale, *told)

    @classmethod
    def from_json(cls, data: dict[str, Any] | None) -> Counted | None:
        """What was kept; None if that is nothing, or something else."""
        data = data or {}
        try:
            return cls(**{**data, "struck": tuple(data["struck"]), "found": tuple(data["found"])})
        except (KeyError, TypeError):
            return None

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        return asdict(self)


def _answers(halves: Sequence[Any], ends: int) -> tuple[int, int]:
    """How many writes began before a time, and how many of them were acknowledged."""
    waiting: dict[str, bool] = {}
    asked = answered = 0
    for op in halves:
        if op.type == "invoke":
            waiting[op.process] = op.time < ends
            asked += op.time < ends
        else:
            answered += waiting.pop(op.process, False) and op.type == "ok"
    return asked, answered


def _silent(halves: Sequence[Any], ends: int) -> int:
    times = sorted(op.time for op in halves if op.type == "ok" and op.time < ends)
    return max((after - before for before, after in pairwise([0, *times, ends])), default=0)


def _struck(history: History, plan: Plan) -> tuple[str, ...]:
    said = []
    for time, action, index, _kind, detail in history.nemesis:
        if action == "strike" and 0 <= index < len(plan.faults):
            fault = plan.faults[index].to_json()
            said.append(f"{time / 1e6:.1f} s: {as_planned(fault)}. It hits {whom_it_hit(detail)}.")
    return tuple(said)


def _found(verdict: Verdict) -> tuple[str, ...]:
    kinds = {(one.name, one.verdict): one for one in reversed(verdict.anomalies)}
    ordered = sorted(kinds.values(), key=lambda one: (GRAVITY.index(one.verdict), one.time))
    return tuple(
        f"{one.name}, {one.verdict}{f' ({one.clause})' if one.clause else ''}: {one.message}" for one in ordered[:MOST]
    )


class Counting:
    """Carries out plans as another does, and keeps the numbers of each.

    Args:
        runner: carries them out.
    """

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    @property
    def progress(self) -> object:
        """What the run under way is doing."""
        return getattr(self._runner, "progress", "")

    def open(self) -> object:
        """Bring the machines up, unless they are."""
        return self._runner.open()

    def execute(self, plan: Plan, variant: AnyVariant, contract: str | None = None, *, folder: Path) -> JudgedRun:
        """Run a plan and judge it; its numbers are in the folder, too."""
        judged = self._runner.execute(plan, variant, contract, folder=folder)
        KeptResults(folder).write(COUNTS, Counted.of(judged.history, judged.verdict, plan).to_json())
        return judged
