"""What `tidemark compare` is asked for."""

from __future__ import annotations

from enum import Enum, auto
from pathlib import Path

import click

from tidemark.cli import options as given
from tidemark.cli.campaign_place import CAMPAIGN, StoreAddress
from tidemark.cli.cluster_options import ClusterOptions
from tidemark.cli.for_ci import CiOptions
from tidemark.cli.table_format import format_option
from tidemark.cli.typed_options import Options, argument, flag, group, option, shared
from tidemark.cli.workload_options import WorkloadOptions
from tidemark.cli.world import WorldOptions, name_of_world

DEFAULT_VARIANTS = "kafka-0.10,kafka-0.11,kafka-2.0,kafka-2.1,kafka-2.7"


class Way(Enum):
    """What ``compare`` does."""

    PLAN = auto()
    """One plan under each variant, here and without Spark."""
    STORED = auto()
    """Nothing is run: stored campaigns are held against each other."""
    SWEPT = auto()
    """A campaign in the simulator over a grid of settings."""
    SIMULATED = auto()
    """A campaign in the simulator, in a folder or kept in a store."""
    CONTAINED = auto()
    """A campaign in containers."""


class CompareOptions(Options):
    """What ``tidemark compare`` can be asked."""

    variants: tuple[str, ...] = option(
        "Variants, the baseline first; the last against it is the primary comparison.",
        type=given.VariantList(),
        default=DEFAULT_VARIANTS,
    )
    plans: int | None = option(
        "Plans for each variant.  [default: 200; 10 in containers]", type=click.IntRange(min=1, max=given.MOST_PLANS)
    )
    seed: int = option("Seed of plans and noise.", type=given.SEED, default=1)
    profile: str = shared(given.profile_option)
    intensity: float = shared(given.intensity_option)
    sweep: tuple[str, ...] = option(
        "Compare in every cell of a grid: an option of cluster, clients, --profile or --intensity with several values, such as "
        "min-isr=1,2,3; replicas is short for replication-factor. More axes may stand behind it, or behind another --sweep.",
        metavar="AXIS=VALUE,VALUE,…",
        multiple=True,
    )
    more_axes: tuple[str, ...] = argument(nargs=-1, metavar="[AXIS=VALUE,VALUE,…]…")
    cluster: ClusterOptions = group(ClusterOptions)
    contract: str | None = shared(given.contract_option)
    world: WorldOptions = group(WorldOptions)
    campaigns: tuple[Path | StoreAddress, ...] = option(
        "Run nothing: hold stored campaigns against each other, paired where their plans are the same (give it twice or more, "
        "or once for the parts of one).",
        "--campaign",
        type=CAMPAIGN,
        multiple=True,
    )
    plan_file: Path | None = option(
        "Run this one plan under each variant, here and without Spark.", "--plan", type=given.FILE
    )
    baseline: str | None = option("Variant the others are compared with.  [default: the first]", type=str)
    keep: str = option(
        "Whose operations and traces are stored as well.",
        type=click.Choice(["violations", "all", "none"]),
        default="violations",
    )
    out: Path | StoreAddress | None = option(
        "Folder, or s3://BUCKET/PATH in an object store.  [default: results/compare-PROFILE-SEED, with -docker in containers]",
        type=CAMPAIGN,
    )
    fresh: bool = flag(
        "Throw away what an earlier campaign left in the folder, of several parts only of the one that is meant; runs in "
        "containers are moved aside (earlier-1, …)."
    )
    retry_errors: bool = flag("Try again what raised: those of its chunks, in containers those runs.")
    run_seconds: float = option("A run takes no longer; 0: no limit.", type=click.FloatRange(min=0), default=60)
    run_memory: int = option(
        "Nor more megabytes; 0: no limit. Both are for the simulator.", type=click.IntRange(min=0), default=2048
    )
    chunk: int | None = option("Plans in a Spark task.  [default: by what a run takes]", type=given.POSITIVE)
    master: str | None = option(
        "Spark master.  [default: local[*]; up to 1,000 runs no Spark]", type=given.SparkMaster()
    )
    report: bool = flag("Write report.html, with an example of each violation, as well.")
    fail_on_violation: bool = flag(
        "Exit 1 if any variant broke its promise, else 255 if a run raised, else 2 if nothing of a variant could be judged."
    )
    stop_at_first: bool = flag(
        "End when a chunk with a violation is finished, and exit as with --fail-on-violation; without it the campaign goes "
        "on."
    )
    workload: WorkloadOptions = group(WorkloadOptions)
    ci: CiOptions = group(CiOptions)
    table_format: str = shared(format_option)
    as_json: bool = shared(given.json_option)

    @property
    def violation_fails(self) -> bool:
        """Whether the exit code tells of violations."""
        return self.fail_on_violation or self.stop_at_first

    @property
    def needs_machines(self) -> bool:
        """Whether the simulator is not enough."""
        return name_of_world(self.world.world, self.world.system) != "sim"

    @property
    def way(self) -> Way:
        """Which of the four commands is meant."""
        if self.sweep or self.more_axes:
            return Way.SWEPT
        if self.plan_file is not None:
            return Way.PLAN
        if self.campaigns:
            return Way.STORED
        return Way.CONTAINED if self.needs_machines else Way.SIMULATED
