"""``tidemark compare``: the same plans and noise under several variants.

It is four commands: a campaign in the simulator, one in containers, stored campaigns side by side, and one plan. Which of them is
meant is decided once (`Way`), and what it has no use for is refused (`REFUSED`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from tidemark.cli import options as given
from tidemark.cli.campaign_place import StoreAddress, keep_pages, place_of
from tidemark.cli.campaign_report import exit_code_of, summarise
from tidemark.cli.cluster_options import ClusterOptions
from tidemark.cli.compare_options import CompareOptions, Way
from tidemark.cli.compare_part import part_to_run
from tidemark.cli.compare_plan import compare_plan
from tidemark.cli.compare_stored import compare_stored
from tidemark.cli.exits import ANOMALY, INTERRUPTED, VALID
from tidemark.cli.extras import need
from tidemark.cli.for_ci import CiOptions
from tidemark.cli.output import output
from tidemark.cli.own_rules import rule_option
from tidemark.cli.plan_options import BESIDE_A_PLAN
from tidemark.cli.refused import refused
from tidemark.cli.sweep import sweep
from tidemark.cli.table_format import refuse_with_json
from tidemark.cli.typed_options import taking
from tidemark.cli.workload_options import WorkloadOptions
from tidemark.cli.world import World, containers
from tidemark.cli.writing_to import writing_to
from tidemark.harness.runs.own_rules import known, used_by
from tidemark.harness.systems.system import SystemRefusalError
from tidemark.nemesis import REAL_ONLY, PlanError, cluster_of_plans, kinds_of

if TYPE_CHECKING:
    from tidemark.harness.systems.system import System
    from tidemark.pipeline.runs.campaign_spec import CampaignSpec
    from tidemark.pipeline.store.stored_campaign import StoredCampaign

EPILOG = """\b
Examples:
  tidemark compare --variants kafka-0.10,kafka-2.1 --plans 200 --report
  tidemark compare --profile destructive --variants kafka-2.7,kafka-3.7,kafka-4.0 --plans 1000 --out results/power
  tidemark compare --out results/power --profile intact                         a part beside it, of the same variants
  tidemark compare --variants kafka-2.1,kafka-2.1+no-fetch-fence --baseline kafka-2.1
  tidemark compare --variants kafka-0.10,kafka-2.7 --sweep replicas=3,5 min-isr=1,2,3 intensity=0.5,1,2     a grid
  tidemark compare --campaign results/acks-all --campaign results/acks-1        two that are stored, side by side
  tidemark compare --plan results/shrunk/kafka-0.10-1-30.json                   one plan under each variant
  tidemark compare --variants kafka-2.7 --producers 4 --rate 50 --duration 10 --stop-at-first     busier clients, for a build
  tidemark compare --master spark://host:7077 --plans 20000                    workers need no folder, and nothing of ours
  tidemark compare --plans 20000 --out s3://BUCKET/night                       kept in an object store: goes on from any machine
  tidemark compare --world docker --variants kafka-0.10,kafka-0.11,kafka-2.1,kafka-2.7 --plans 10 --report
  tidemark compare --system kafka:2.8.2 --variants kafka-0.10,kafka-0.11,kafka-2.0,kafka-2.7 --plans 10 --report

\b
The same command again resumes a campaign that was stopped, and with more --plans, or more --variants behind the others,
the campaign grows; another --profile or --system becomes a part of its own beside what is there. A comparison measures, so it
exits 0 when it is complete, whatever it found, unless there is --fail-on-violation."""


Unfit = Callable[[CompareOptions], Iterable[str]]
"""What of the options does not fit, as it is typed."""


def _any_of(*names: str) -> Unfit:
    return lambda asked: [word for name, word in asked.typed.items() if name in names]


def _any_but(*names: str) -> Unfit:
    return lambda asked: [word for name, word in asked.typed.items() if name not in names]


REFUSED: Final[dict[Way, tuple[tuple[Unfit, str], ...]]] = {
    Way.PLAN: (
        (
            lambda asked: ["--world"] if asked.needs_machines else [],
            "--plan is for the simulator: tidemark run --plan has it run in containers",
        ),
        (
            _any_of("seed", "profile", "intensity", *ClusterOptions.option_names(), *WorkloadOptions.option_names()),
            BESIDE_A_PLAN,
        ),
        (
            _any_but(
                "plan_file", "variants", "contract", "world", "system", "fail_on_violation", "table_format", "as_json"
            ),
            "{} is for campaigns, and --plan for one plan",
        ),
    ),
    Way.STORED: (
        (_any_of("report"), "{} is of one campaign"),
        (
            _any_of("stop_at_first", *WorkloadOptions.option_names()),
            "--campaign runs nothing, so nothing can be asked of clients, and there is nothing to stop",
        ),
        (
            _any_but(
                "campaigns",
                "baseline",
                "master",
                "fail_on_violation",
                *CiOptions.option_names(),
                "table_format",
                "as_json",
            ),
            "{} is for a campaign that is run, and --campaign runs nothing",
        ),
    ),
    Way.SWEPT: (
        (
            lambda asked: [] if asked.sweep else list(asked.more_axes),
            "unexpected extra argument {} (an axis stands behind --sweep)",
        ),
        (
            lambda asked: ["--world"] if asked.needs_machines else [],
            "--sweep is for the simulator: in containers give a command for each cell, and hold them together with --campaign",
        ),
        (
            lambda asked: ["--out"] if isinstance(asked.out, StoreAddress) else [],
            "--out in a store is for campaigns: a sweep is in a folder of this machine",
        ),
        (
            _any_of("plan_file", "campaigns", "master", "stop_at_first", *CiOptions.option_names()),
            "{} cannot be given with --sweep",
        ),
        (_any_of("report"), "a sweep has its table and its figure without {}"),
    ),
    Way.SIMULATED: (
        (
            lambda asked: ["--profile"] if REAL_ONLY & {*kinds_of(asked.profile)} else [],
            "this --profile has faults that need --world docker: the simulator has no machines",
        ),
    ),
    Way.CONTAINED: (
        (
            _any_of("master", "chunk"),
            "--master and --chunk are for the simulator: containers run one plan after the other",
        ),
        (_any_of("run_seconds", "run_memory"), "{} is for the simulator, whose runs it ends"),
        (
            lambda asked: ["--out"] if isinstance(asked.out, StoreAddress) else [],
            "--out in a store is for the simulator: runs in containers leave folders of evidence, which stay on this machine",
        ),
    ),
}
"""What each way has no use for, and the sentence that says so; `{}` is the option."""


@click.command("compare", epilog=EPILOG)
@rule_option
@taking(CompareOptions)
def compare_command(options: CompareOptions) -> int:
    """Run a paired campaign and compare the variants: how often did each lose a committed write, or let logs diverge?"""
    way = options.way
    for unfit, sentence in REFUSED[way]:
        for word in unfit(options):
            raise click.UsageError(sentence.format(word))
    refuse_with_json(options.table_format, as_json=options.as_json)
    if way is Way.SWEPT:
        return sweep(options)
    if way is Way.PLAN:
        assert options.plan_file is not None  # noqa: S101 - which makes it this way
        one = options.plan_file, options.variants, options.contract
        return compare_plan(*one, options.table_format, fails=options.violation_fails, as_json=options.as_json)
    need(campaign=True, spark=way is Way.STORED or options.master is not None, report=options.report)
    if way is Way.STORED:
        asked = options.campaigns, options.baseline, options.master, options.ci, options.table_format
        return compare_stored(*asked, fails=options.violation_fails, as_json=options.as_json)
    return _campaign(options, options.world.chosen())


def _campaign(options: CompareOptions, world: World) -> int:
    """Run a campaign as far as it is missing, in a folder or a store, and tell of it."""
    from tidemark.pipeline.runs.simulate import plan_of
    from tidemark.pipeline.store.store_place import StoreError
    from tidemark.pipeline.store.stored_campaign import StoredCampaign

    out = options.out or given.RESULTS / f"compare-{options.profile}-{options.seed}{world.suffix}"
    stored = StoredCampaign(place_of(out)) if isinstance(out, StoreAddress) else None
    whole = Path(out) if stored is None else stored.place.working_copy()
    spec, folder, which_part = _spec(options, world, whole.resolve().name), whole, ""
    if stored is None:  # a campaign in a store has one part
        groups = {"cluster": options.cluster, "workload": options.workload}
        said = {*options.typed, *(name for name, asked in groups.items() if asked.typed)}
        folder, spec, which_part = part_to_run(whole, spec, world.system, said, fresh=options.fresh)
    if options.baseline and options.baseline not in spec.variants:
        raise click.UsageError(f"the baseline {options.baseline!r} is not among the variants")
    with refused(PlanError, usage=True):
        plan_of(spec, 0)
    given.writable_folder(folder)
    if not world.is_simulated:
        _check(spec, world.system)
    if which_part:
        click.echo(which_part, err=True)
    if stored is None:
        return _run(spec, folder, options, world)
    with refused(StoreError):
        try:
            code = _run(spec, folder, options, world, stored)
        except click.ClickException as error:
            raise click.ClickException(error.message.replace(str(folder), stored.place.uri)) from None
    if code != INTERRUPTED and options.report:
        keep_pages(stored.place, folder)
    return code


def _spec(options: CompareOptions, world: World, name: str) -> CampaignSpec:
    """What is asked of the campaign."""
    from tidemark.pipeline.runs.campaign_spec import CampaignSpec

    return CampaignSpec(
        name=name,
        variants=world.variants(options.variants, typed="variants" in options.typed),
        plans=options.plans or (200 if world.is_simulated else 10),
        seed=options.seed,
        profile=options.profile,
        cluster=cluster_of_plans(options.profile, options.cluster.spec()).to_json(),
        contract=options.contract,
        keep=options.keep,
        world=world.name,
        time_scale=options.world.time_scale_on(world.system),
        clients=options.world.clients,
        system=world.text,
        broker_config=options.world.system.broker_config,
        workload=options.workload.asked().to_json(),
        intensity=options.intensity,
        rules=used_by(options.variants, known()),
    )


def _check(spec: CampaignSpec, system: System) -> None:
    """Refuse plans that the system cannot run before anything is started."""
    from tidemark.pipeline.runs.simulate import plan_of

    with refused(SystemRefusalError):
        for variant in spec.variants:
            for index in range(spec.plans):
                system.check(plan_of(spec, index), system.variant(variant))


def _run(
    spec: CampaignSpec, folder: Path, options: CompareOptions, world: World, stored: StoredCampaign | None = None
) -> int:
    """Run what is missing of a campaign, or of one part, and compare its variants."""
    from tidemark.pipeline.campaign.campaign import run_campaign
    from tidemark.pipeline.engines.spark_or_not import does_without_spark
    from tidemark.pipeline.runs.guard import RunLimits

    runs = spec.plans * len(spec.variants)
    need(spark=not does_without_spark(options.master, runs))  # to compare them
    status = output(stderr=True)
    run = partial(run_campaign, spec, folder, stop_at_first=options.stop_at_first, console=status)
    run = partial(run, fresh=options.fresh, retry_errors=options.retry_errors)
    with refused():
        if world.is_simulated:
            limits = RunLimits(options.run_seconds, options.run_memory)
            with writing_to(folder):
                outcome = run(master=options.master, chunk_size=options.chunk, limits=limits, stored=stored)
        else:
            from tidemark.pipeline.chunks.contained import Contained

            asked = options.world
            with containers(spec.cluster["brokers"], world.system, hosts=asked.hosts, clients=asked.clients) as session:
                outcome = run(chunk_size=1, contained=Contained(session, folder.resolve()))
    words = outcome.sentences()
    status.print(
        words if stored is None else words.replace(str(folder), stored.place.uri), highlight=False, markup=False
    )
    if outcome.status == "interrupted":
        return INTERRUPTED
    try:
        told = folder, options.baseline, options.ci, options.master, options.table_format
        comparison = summarise(*told, report=options.report, as_json=options.as_json)
    except click.ClickException as error:
        if outcome.status != "stopped":
            raise
        status.print(f"Nothing is compared: {error.message}", highlight=False, markup=False)
        return ANOMALY
    return exit_code_of(comparison) if options.violation_fails else VALID
