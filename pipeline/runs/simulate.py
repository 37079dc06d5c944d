"""One run of a campaign: draw the plan, simulate it under a variant, check the history."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from tidemark.harness.runs.judged import JudgedRun
from tidemark.harness.runs.own_rules import learn
from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import AskedWorkload, Plan, generate_plan
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.pipeline.runs.campaign_spec import CampaignSpec
from tidemark.pipeline.runs.sweep import places

Simulate: TypeAlias = Callable[[CampaignSpec, str, int], tuple[Plan, JudgedRun]]
"""(spec, variant, index of the plan) -> (plan, result). It has no side effects and depends on nothing else."""


def simulate(spec: CampaignSpec, variant: str, index: int) -> tuple[Plan, JudgedRun]:
    """Run plan `index` under `variant`; the plan is the same for every variant."""
    learn(spec.rules)
    plan = plan_of(spec, index)
    return plan, execute(plan, variant, spec.contract)


def plan_of(spec: CampaignSpec, index: int) -> Plan:
    """Plan `index` of a campaign, with its workload, in its time scale."""
    if spec.cells:
        cell, number = places(spec.seed, spec.cells, spec.plans).of_plan[index]
        return spec.cells[cell].plan(spec.seed, number)
    cluster = ClusterSpec.from_json(dict(spec.cluster))
    plan = generate_plan(spec.seed, index, spec.profile, cluster, spec.intensity)
    return AskedWorkload.from_json(spec.workload).of(plan).scaled(spec.time_scale)
