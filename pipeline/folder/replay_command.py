"""The command that carries out one run of a campaign again."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from tidemark.harness.runs.own_rules import used_by
from tidemark.nemesis import AskedWorkload
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.pipeline.folder.evidence import run_folder
from tidemark.pipeline.runs.campaign_spec import IMPORTED
from tidemark.pipeline.runs.sweep import places

if TYPE_CHECKING:
    from tidemark.pipeline.runs.campaign_spec import CampaignSpec


def replay_command(spec: CampaignSpec, folder: Path, variant: str, plan: int | None, source: str | None = None) -> str:
    """What to type: in the simulator to have the same run again, byte for byte; of a real world, which repeats nothing, to see the
    page of the run that was stored. Without a plan ``PLAN`` stands in its place.

    Of an imported history, which came from `source`, to see a page about that; without one, to see which they are.
    """
    number = "PLAN" if plan is None else str(plan)
    if spec.world == IMPORTED:
        listed = ["tidemark", "runs", str(folder), "--variant", variant]
        return shlex.join(listed if source is None else ["tidemark", "report", source])
    if spec.world != "sim":
        stored = run_folder(folder, variant, plan or 0)
        return shlex.join(["tidemark", "report", str(stored if plan is not None else stored.with_name("plan-PLAN"))])
    profile, cluster, workload = (
        spec.profile,
        ClusterSpec.from_json(dict(spec.cluster)),
        AskedWorkload.from_json(spec.workload),
    )
    intensity = spec.intensity
    if spec.cells:
        if plan is None:
            return shlex.join(["tidemark", "runs", str(folder), "--variant", variant])
        place, index = places(spec.seed, spec.cells, spec.plans).of_plan[plan]
        cell, number = spec.cells[place], str(index)
        profile, cluster, workload, intensity = cell.profile, cell.cluster, cell.workload, cell.intensity
    words = ["tidemark", "run", "--variant", variant, "--seed", str(spec.seed), "--index", number]
    words += ["--profile", profile, *_cluster_options(cluster), *workload.options()]
    words += ["--intensity", f"{intensity:.15g}"] if intensity != 1 else []
    words += [word for rule in used_by([variant], spec.rules) for word in ("--rule", rule.asked)]
    if spec.contract:
        words += ["--contract", spec.contract]
    return shlex.join(words)


def _cluster_options(cluster: ClusterSpec) -> list[str]:
    """Those that are not the command's defaults."""
    default = ClusterSpec()
    given = {
        "--brokers": (cluster.brokers, default.brokers),
        "--replication-factor": (cluster.replication_factor, min(3, cluster.brokers)),
        "--partitions": (cluster.partitions, default.partitions),
        "--min-isr": (cluster.settings.min_isr, min(2, cluster.replication_factor)),
        "--acks": (cluster.acks, default.acks),
    }
    words = [word for option, (value, usual) in given.items() if value != usual for word in (option, str(value))]
    return [*words, "--unclean-election"] if cluster.settings.unclean_election else words
