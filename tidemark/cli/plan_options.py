"""Options that name a plan: a file's, or a random one's seed, number, profile and cluster."""

from __future__ import annotations

from pathlib import Path

import click

from tidemark.cli.cluster_options import ClusterOptions
from tidemark.cli.corpus import read_plan_or_kept
from tidemark.cli.options import FILE, SEED, intensity_option, profile_option
from tidemark.cli.refused import refused
from tidemark.cli.typed_options import Options, group, option, shared
from tidemark.cli.workload_options import WorkloadOptions
from tidemark.nemesis import Plan, PlanError, generate_plan

BESIDE_A_PLAN = "{} cannot be given with --plan: the plan file says it (edit a copy of it)"


class PlanOptions(Options):
    """--plan, --seed, --index, --profile, --intensity, and those of the cluster."""

    plan_file: Path | None = option("Plan file, instead of a random plan.", "--plan", type=FILE)
    seed: int = option("Seed of the random plans.", type=SEED, default=1)
    index: int = option("Which plan of the seed.", type=click.IntRange(min=0), default=0)
    profile: str = shared(profile_option)
    intensity: float = shared(intensity_option)
    cluster: ClusterOptions = group(ClusterOptions)

    def plan(self, workload: WorkloadOptions | None = None) -> Plan:
        """The plan, with clients as busy as somebody asked for, where they can be asked for.

        Raises:
            click.ClickException: the options contradict each other, nobody can run it, or the file is no plan.
        """
        cluster = self.cluster.spec()
        if self.plan_file is None:
            plan = generate_plan(self.seed, self.index, self.profile, cluster, self.intensity)
            with refused(PlanError, usage=True):
                return plan if workload is None else workload.asked().of(plan)
        for name, word in {**(workload.typed if workload else {}), **self.typed}.items():
            if name != "plan_file":
                raise click.UsageError(BESIDE_A_PLAN.format(word))
        with refused(PlanError):
            return read_plan_or_kept(self.plan_file)

    def name(self, plan: Plan) -> str:
        """What results of the plan are called."""
        return self.plan_file.stem if self.plan_file else f"{plan.seed}-{plan.index}"

    def origin(self, plan: Plan) -> str:
        """Where the plan is from, in words."""
        return self.plan_file.stem if self.plan_file else f"plan {plan.index} of seed {plan.seed} ({plan.profile})"
