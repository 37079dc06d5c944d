"""Which runs there are: systems × profiles × plans, and which of them a system cannot carry out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from tidemark.harness.systems.capabilities import why_not_judged_by_logs
from tidemark.harness.systems.system import System, SystemRefusalError
from tidemark.nemesis import Plan, generate_plan
from tidemark.nodes.core.cluster import ClusterSpec

ROUND = 10
"""So many plans of each system and profile before the next so many, so that a table that is not finished tells of all of them."""
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9.@+]+")


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A plan on a system.

    Attributes:
        system: as ``--systems`` calls it.
        variant: the protocol that it is then.
        profile: of the plan.
        plan: in the system's time scale.
        refused: why it cannot be carried out, as a sentence; empty if it can.
    """

    system: str
    variant: str
    profile: str
    plan: Plan
    refused: str = ""

    @property
    def name(self) -> str:
        """Of its folder, below that of all runs; runs of two plans, whatever they differ in, never share one."""
        plan = f"plan-{self.plan.seed}-{self.plan.index:05d}-{self.digest[:8]}"
        return f"{_NOT_IN_A_NAME.sub('-', self.system)}/{self.profile}/{plan}"

    @property
    def digest(self) -> str:
        """Of the plan: whatever a run depends on, but the system."""
        return sha256(self.plan.to_text().encode()).hexdigest()[:16]

    @property
    def words(self) -> str:
        """For progress lines."""
        return f"{self.system}, {self.profile}, plan {self.plan.index}"


def planned_runs(
    systems: Mapping[str, System],
    profiles: Sequence[str],
    *,
    plans: int,
    seed: int,
    cluster: ClusterSpec,
    intensity: float = 1,
    as_asked: Callable[[Plan], Plan] = lambda plan: plan,
    time_scale: float | None = None,
) -> list[PlannedRun]:
    """All of them in the order of work: rounds of plans, in each system by system and profile by profile.

    Args:
        systems: name → system.
        profiles: of the plans.
        plans: how many of each profile; every system meets the same ones.
        seed: of the plans.
        cluster: their cluster.
        intensity: how hard faults strike.
        as_asked: a plan with the clients that somebody asked for.
        time_scale: all times of a plan are multiplied by this; by what each system needs, unless told otherwise.
    """
    return [
        _planned(name, system, profile, as_asked(generate_plan(seed, index, profile, cluster, intensity)), time_scale)
        for began in range(0, plans, ROUND)
        for name, system in systems.items()
        for profile in profiles
        for index in range(began, min(began + ROUND, plans))
    ]


def _planned(name: str, system: System, profile: str, plan: Plan, time_scale: float | None) -> PlannedRun:
    variant = system.default_variant
    plan = plan.scaled(time_scale or system.time_scale)
    refused = why_not_judged_by_logs(system)
    if not refused:
        try:
            system.check(plan, system.variant(variant))
        except SystemRefusalError as error:
            refused = str(error)
    return PlannedRun(name, variant, profile, plan, refused)


def systems_of(runs: Iterable[PlannedRun]) -> list[str]:
    """Their systems, in order."""
    return list(dict.fromkeys(run.system for run in runs))
