"""``tidemark compare``: the same plans and noise under several variants, as Spark tasks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from tidemark.cli.campaign_place import CampaignPlace, StoreAddress, at_hand, keep_pages, place_of
from tidemark.cli.compare_part import part_to_run
from tidemark.cli.compare_plan import compare_plan
from tidemark.cli.exits import ANOMALY, INTERNAL_ERROR, INTERRUPTED, UNKNOWN, VALID
from tidemark.cli.extras import need
from tidemark.cli.for_ci import ci_options, tell_ci
from tidemark.cli.options import (
    MOST_PLANS,
    RESULTS,
    SEED,
    SparkMaster,
    VariantList,
    cluster_of,
    cluster_options,
    contract_option,
    json_option,
    profile_option,
    writable_folder,
)
from tidemark.cli.own_rules import rule_option
from tidemark.cli.system_option import chosen_variants, suffix_of, system_of, system_options, time_scale_of
from tidemark.cli.workload_options import workload_of, workload_options
from tidemark.cli.world import containers, refuse_container_options, world_options
from tidemark.cli.writing_to import writing_to
from tidemark.harness.runs.own_rules import known, used_by
from tidemark.nemesis import PlanError, cluster_of_plans

if TYPE_CHECKING:
    from tidemark.harness.report.model import Comparison
    from tidemark.harness.systems.system import System
    from tidemark.pipeline.runs.campaign_spec import CampaignSpec
    from tidemark.pipeline.store.store_place import StorePlace
    from tidemark.pipeline.store.stored_campaign import StoredCampaign

EPILOG = """\b
Examples:
  tidemark compare --variants kafka-0.10,kafka-2.1 --plans 200 --report
  tidemark compare --profile destructive --variants kafka-2.7,kafka-3.7,kafka-4.0 --plans 1000 --out results/power
  tidemark compare --out results/power --profile intact                         a part beside it, of the same variants
  tidemark compare --variants kafka-2.1,kafka-2.1+no-fetch-fence --baseline kafka-2.1
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

DEFAULT_VARIANTS = "kafka-0.10,kafka-0.11,kafka-2.0,kafka-2.1,kafka-2.7"


@click.command("compare", epilog=EPILOG)
@click.option(
    "--variants",
    type=VariantList(),
    default=DEFAULT_VARIANTS,
    show_default=True,
    help="Variants, the baseline first; the last against it is the primary comparison.",
)
@click.option(
    "--plans",
    type=click.IntRange(min=1, max=MOST_PLANS),
    help="Plans for each variant.  [default: 200; 10 in containers]",
)
@click.option("--seed", type=SEED, default=1, show_default=True, help="Seed of plans and noise.")
@profile_option
@cluster_options
@contract_option
@world_options
@system_options
@click.option(
    "--campaign",
    "campaigns",
    type=CampaignPlace(path_type=Path, file_okay=False),
    multiple=True,
    help="Run nothing: hold stored campaigns against each other, paired where their plans are the same (give it twice or more, "
    "or once for the parts of one).",
)
@click.option(
    "--plan",
    "plan_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Run this one plan under each variant, here and without Spark.",
)
@click.option("--baseline", type=str, help="Variant the others are compared with.  [default: the first]")
@click.option(
    "--keep",
    type=click.Choice(["violations", "all", "none"]),
    default="violations",
    show_default=True,
    help="Whose operations and traces are stored as well.",
)
@click.option(
    "--out",
    type=CampaignPlace(path_type=Path, file_okay=False),
    help="Folder, or s3://BUCKET/PATH in an object store.  [default: results/compare-PROFILE-SEED, with -docker in containers]",
)
@click.option(
    "--fresh",
    is_flag=True,
    help="Throw away what an earlier campaign left in the folder, of several parts only of the one that is meant; runs in "
    "containers are moved aside (earlier-1, …).",
)
@click.option(
    "--retry-errors", is_flag=True, help="Try again what raised: those of its chunks, in containers those runs."
)
@click.option(
    "--run-seconds",
    type=click.FloatRange(min=0),
    default=60,
    show_default=True,
    help="A run takes no longer; 0: no limit.",
)
@click.option(
    "--run-memory",
    type=click.IntRange(min=0),
    default=2048,
    show_default=True,
    help="Nor more megabytes; 0: no limit. Both are for the simulator.",
)
@click.option("--chunk", type=click.IntRange(min=1), help="Plans in a Spark task.  [default: by what a run takes]")
@click.option("--master", type=SparkMaster(), help="Spark master.  [default: local[*]; up to 1,000 runs no Spark]")
@click.option("--report", is_flag=True, help="Write report.html, with an example of each violation, as well.")
@click.option(
    "--fail-on-violation",
    is_flag=True,
    help="Exit 1 if any variant broke its promise, else 255 if a run raised, else 2 if nothing of a variant could be judged.",
)
@click.option(
    "--stop-at-first",
    is_flag=True,
    help="End when a chunk with a violation is finished, and exit as with --fail-on-violation; without it the campaign goes on.",
)
@workload_options
@ci_options
@json_option
@rule_option
def compare_command(**options: Any) -> int:  # noqa: ANN401 - click hands them over by name
    """Run a paired campaign and compare the variants: how often did each lose a committed write, or let logs diverge?"""
    if options["plan_file"] is not None:
        return compare_plan(options)
    need(campaign=True, report=options["report"])
    if options["campaigns"]:
        return _side_by_side(options)
    from tidemark.pipeline.runs.campaign_spec import CampaignSpec
    from tidemark.pipeline.runs.simulate import plan_of

    system = system_of(options)
    refuse_container_options(options)
    options["variants"] = chosen_variants(system, options["variants"], "variants")
    cluster = cluster_of_plans(options["profile"], cluster_of(options))
    docker = options["world"] == "docker"
    if not docker and options["profile"] == "machines":
        raise click.UsageError("--profile machines needs --world docker: the simulator has no machines")
    if docker and (options["master"] or options["chunk"]):
        raise click.UsageError("--master and --chunk are for the simulator: containers run one plan after the other")
    out = options["out"] or _default_folder(options)
    place = place_of(out) if isinstance(out, StoreAddress) else None
    if place is not None and docker:
        raise click.UsageError(
            "--out in a store is for the simulator: runs in containers leave folders of evidence, which stay on this machine"
        )
    whole = out if place is None else place.working_copy()
    spec = CampaignSpec(
        name=whole.resolve().name,
        variants=options["variants"],
        plans=options["plans"] or (10 if docker else 200),
        seed=options["seed"],
        profile=options["profile"],
        cluster=cluster.to_json(),
        contract=options["contract"],
        keep=options["keep"],
        world=options["world"],
        time_scale=time_scale_of(options, system),
        clients=options["clients"],
        system=options["system"],
        broker_config=options["broker_config"],
        workload=workload_of(options).to_json(),
        rules=used_by(options["variants"], known()),
    )
    folder, which_part = whole, ""
    if place is None:  # a campaign in a store has one part
        folder, spec, which_part = part_to_run(whole, spec, options, system)
    if options["baseline"] and options["baseline"] not in spec.variants:
        raise click.UsageError(f"the baseline {options['baseline']!r} is not among the variants")
    try:
        plan_of(spec, 0)
    except PlanError as error:
        raise click.UsageError(str(error)) from None
    writable_folder(folder)
    if docker:
        _check(spec, system)
    if which_part:
        click.echo(which_part, err=True)
    if place is not None:
        return _in_store(spec, folder, options, system, place)
    return _campaign(spec, folder, options, system)


def _in_store(spec: CampaignSpec, folder: Path, options: dict[str, Any], system: System, place: StorePlace) -> int:
    """Run a campaign that is kept in a store; the folder is its working copy."""
    from tidemark.pipeline.store.store_place import StoreError
    from tidemark.pipeline.store.stored_campaign import StoredCampaign

    try:
        code = _campaign(spec, folder, options, system, StoredCampaign(place))
    except StoreError as error:
        raise click.ClickException(str(error)) from None
    except click.ClickException as error:
        raise click.ClickException(error.message.replace(str(folder), place.uri)) from None
    if code != INTERRUPTED and options["report"]:
        keep_pages(place, folder)
    return code


def _side_by_side(options: dict[str, Any]) -> int:
    """Compare stored campaigns."""
    folders = _with_their_parts(tuple(at_hand(campaign) for campaign in options["campaigns"]))
    if len(folders) < 2:
        raise click.UsageError("--campaign needs a second one; of one campaign tell tidemark report")
    if options["report"]:
        raise click.UsageError("--report is of one campaign")
    if options["stop_at_first"] or workload_of(options):
        raise click.UsageError(
            "--campaign runs nothing, so nothing can be asked of clients, and there is nothing to stop"
        )
    from tidemark.cli.campaign_report import cases
    from tidemark.pipeline.compare.across_campaigns import compare_campaigns, differences
    from tidemark.pipeline.compare.compare import UnreadableError
    from tidemark.pipeline.compare.compare_table import print_comparison
    from tidemark.pipeline.engines.java import JavaNotFoundError
    from tidemark.pipeline.engines.reading import reading_session
    from tidemark.pipeline.folder.finished_chunks import DamagedTableError
    from tidemark.pipeline.folder.found_campaign import NothingToCompareError
    from tidemark.pipeline.folder.manifest import CampaignRefusedError

    try:
        differ = differences(folders)  # before a JVM is started for nothing
        comparison = compare_campaigns(reading_session(options["master"], *folders), folders, options["baseline"])
    except (
        NothingToCompareError,
        CampaignRefusedError,
        DamagedTableError,
        UnreadableError,
        JavaNotFoundError,
    ) as error:
        raise click.ClickException(str(error)) from None
    if options["as_json"]:
        click.echo(json.dumps(comparison.to_json() | {"differences": differ}))
    else:
        console = Console()
        for sentence in differ or ["The campaigns have the same settings and the same code."]:
            console.print(sentence, highlight=False, markup=False)
        print_comparison(comparison, console, between_campaigns=True)
    tell_ci(cases(comparison), options["junit"], annotations=options["annotations"])
    return _exit_code(comparison) if options["fail_on_violation"] else VALID


def _with_their_parts(campaigns: tuple[Path, ...]) -> list[Path]:
    """The folders, and behind each those of its parts, once each."""
    from tidemark.pipeline.folder.campaign_parts import added_folders

    found: dict[Path, Path] = {}
    for campaign in campaigns:
        for folder in (campaign, *added_folders(campaign)):
            found.setdefault(folder.resolve(), folder)
    return list(found.values())


def _check(spec: CampaignSpec, system: System) -> None:
    """Refuse plans that the system cannot run before anything is started."""
    from tidemark.harness.systems.system import SystemRefusalError
    from tidemark.pipeline.runs.simulate import plan_of

    try:
        for variant in spec.variants:
            for index in range(spec.plans):
                system.check(plan_of(spec, index), system.variant(variant))
    except SystemRefusalError as error:
        raise click.ClickException(str(error)) from None


def _default_folder(options: dict[str, Any]) -> Path:
    return RESULTS / f"compare-{options['profile']}-{options['seed']}{suffix_of(options)}"


def _campaign(
    spec: Any,  # noqa: ANN401 - pipeline's type, loaded late
    folder: Path,
    options: dict[str, Any],
    system: System,
    stored: StoredCampaign | None = None,
) -> int:
    from tidemark.pipeline.campaign.campaign import CampaignFailedError, CampaignRefusedError, run_campaign
    from tidemark.pipeline.engines.java import JavaNotFoundError
    from tidemark.pipeline.runs.guard import RunLimits

    status = Console(stderr=True)
    try:
        if spec.world == "sim":
            with writing_to(folder):
                outcome = run_campaign(
                    spec,
                    folder,
                    master=options["master"],
                    chunk_size=options["chunk"],
                    fresh=options["fresh"],
                    retry_errors=options["retry_errors"],
                    stop_at_first=options["stop_at_first"],
                    limits=RunLimits(options["run_seconds"], options["run_memory"]),
                    console=status,
                    stored=stored,
                )
        else:
            from tidemark.pipeline.chunks.contained import Contained

            with containers(options, spec.cluster["brokers"], system) as session:
                contained = Contained(session, folder.resolve())
                outcome = run_campaign(
                    spec,
                    folder,
                    chunk_size=1,
                    fresh=options["fresh"],
                    retry_errors=options["retry_errors"],
                    stop_at_first=options["stop_at_first"],
                    console=status,
                    contained=contained,
                )
    except (CampaignRefusedError, CampaignFailedError, JavaNotFoundError) as error:
        raise click.ClickException(str(error)) from None
    words = outcome.sentences()
    status.print(
        words if stored is None else words.replace(str(folder), stored.place.uri), highlight=False, markup=False
    )
    if outcome.status == "interrupted":
        return INTERRUPTED
    from tidemark.cli.campaign_report import summarise

    try:
        comparison = summarise(
            folder,
            options["baseline"],
            options["as_json"],
            report=options["report"],
            master=options["master"],
            ci=(options["junit"], options["annotations"]),
        )
    except click.ClickException as error:
        if outcome.status != "stopped":
            raise
        status.print(f"Nothing is compared: {error.message}", highlight=False, markup=False)
        return ANOMALY
    return _exit_code(comparison) if options["fail_on_violation"] or options["stop_at_first"] else VALID


def _exit_code(comparison: Comparison) -> int:
    """What --fail-on-violation is told: a violation, or why nobody can say that there is none."""
    if any(variant.violating.hits for variant in comparison.variants):
        return ANOMALY
    if any(variant.errors for variant in comparison.variants):
        return INTERNAL_ERROR
    return VALID if all(variant.judged for variant in comparison.variants) else UNKNOWN
