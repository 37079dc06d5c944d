"""``tidemark scenario``: the worked examples of the seed documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.progress import track

from tidemark.cli.docker_client import tells
from tidemark.cli.exits import ANOMALY, VALID, exit_code
from tidemark.cli.for_ci import BROKEN, FAILED, PASSED, Case, CiOptions, case_of
from tidemark.cli.options import FOLDER, POSITIVE, RESULTS, RealRange, VariantName, json_option, writable_folder
from tidemark.cli.output import output
from tidemark.cli.refused import refused
from tidemark.cli.scenario_table import Tries, show_outcomes, show_scenarios, show_tries
from tidemark.cli.system_option import SystemOptions, variant_on, variants_had
from tidemark.cli.system_scripts import play
from tidemark.cli.table_format import format_option, refuse_with_json
from tidemark.cli.typed_options import Options, argument, flag, group, option, shared, taking
from tidemark.cli.world import World, containers, hosts_option, world_of, world_option
from tidemark.harness import scenario as scripts
from tidemark.harness.conform.expectation import judged
from tidemark.harness.machines.errors import ContainerWorldError
from tidemark.harness.scenario.kept_run import ScriptFolders
from tidemark.harness.scenario.show import show_outcome
from tidemark.harness.scenario.target import CannotPlayError, ScriptError
from tidemark.harness.systems.outside.adapter import OutsideSystem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.harness.scenario import Scenario, ScenarioOutcome
    from tidemark.harness.systems.system import System
    from tidemark.nodes.families import AnyVariant

    Pairs = list[tuple[Scenario, str]]

EPILOG = """\b
Examples:
  tidemark scenario                                         what there is
  tidemark scenario kip-101-data-loss                        told step by step, under every rule it speaks about
  tidemark scenario kip-101-data-loss --variant kafka-0.10   under one rule
  tidemark scenario mine.scenario                            a script of one's own; without outcomes it is judged like a run
  tidemark scenario --all --json                            all of them, for a script
  tidemark scenario --all --format latex > outcomes.tex     a table for a paper; also csv, markdown
  tidemark scenario --all --stop-at-first --junit report.xml     for a CI system
  tidemark scenario kip-101-data-loss --world docker         on real processes in containers
  tidemark scenario kip-101-data-loss --variant kafka-0.10 --world docker --times 10
  tidemark scenario kip-101-data-loss --system kafka:2.8.2   on real Kafka brokers, under each rule they have
  tidemark scenario kip-279-scenario-1-n-20 --system kafka:2.8.2@1.1 --times 10
  tidemark scenario missed-reign --system kafka:4.3.1+./classes --variant kafka-4.0+forget-log-ends
                                                             on brokers that you have patched, as the repaired model does
  tidemark scenario one-down-one-loses-power --system nats:2.15.1 --times 10
  tidemark scenario one-member-loses-power --system etcd:3.5.0 --times 10

\b
Exit codes: 0 every outcome is as expected, 1 one is not, 254 bad arguments, or a run that could not be carried out.
With --verdict, and if the script says of no outcome what it must be: 0 every run is valid, 1 one is not, 2 unknown."""

UNLESS_TOLD = "kafka-2.7"
"""The variant of a script that names none."""
WORST_FIRST = ("invalid", "unknown", "valid")


class ScenarioOptions(Options):
    """What ``tidemark scenario`` can be asked."""

    name: str | None = argument(required=False)
    run_all: bool = flag("Run every scenario.", "--all")
    variant: str | None = option(
        "Only under this variant.  [default: all of whose outcome the script speaks; kafka-2.7 if of none]",
        type=VariantName(),
    )
    world: str = shared(world_option)
    times: int = option("In containers: try each so many times.", type=POSITIVE, default=1)
    time_scale: float = option(
        "In containers: multiply every time of the scripts, for machines that are slow.",
        type=RealRange(min=0.2, max=100),
        default=1.0,
    )
    hosts: Path | None = shared(hosts_option)
    out: Path | None = option(
        "In containers: folder for what each try leaves, files of the nodes too.  "
        "[default: results/scripts/NAME-VARIANT-SYSTEM]",
        type=FOLDER,
    )
    stop_at_first: bool = flag("Stop at the first outcome that is not as expected.")
    by_verdict: bool = flag("Exit by the verdicts, as tidemark run does, whatever the script expects.", "--verdict")
    each: bool = flag("Tell the whole run under every variant, also where it is the same as under another.")
    system: SystemOptions = group(SystemOptions)
    ci: CiOptions = group(CiOptions)
    table_format: str = shared(format_option)
    as_json: bool = shared(json_option)


@click.command("scenario", epilog=EPILOG)
@taking(ScenarioOptions)
def scenario_command(options: ScenarioOptions) -> int:
    """Play a scenario and hold it against the outcome worked out by hand. A script without outcomes is played and judged."""
    world = world_of(options.world, options.system, options.typed)
    _refuse(options, world)
    if isinstance(world.system, OutsideSystem) and not _is_file(options.name):
        if options.name is None:
            raise click.UsageError(f"--all is not for {world.system.name}: give one of its scripts by NAME, or a file")
        told = {"as_json": options.as_json, "by_verdict": options.by_verdict}
        return play(options.name, world.system.real.scripts(), world, options.times, **told)
    name, variant, system = options.name, options.variant, world.system
    if not name and not options.run_all:
        show_scenarios(list(scripts.all_scenarios()), options.table_format, as_json=options.as_json)
        return VALID
    with refused(scripts.UnknownScenarioError, scripts.ScenarioError, usage=True):
        chosen = scripts.all_scenarios() if name is None else [_chosen(name)]
    if variant is not None and not world.is_simulated:
        variant_on(system, variant)
    simulated = world.is_simulated
    pairs = _pairs(chosen, world, variant)
    tries = _simulated(pairs, stop=options.stop_at_first) if simulated else _contained(pairs, options, world)
    outcomes = [outcome for one in tries for outcome in one.outcomes]
    options.ci.tell([_case(one) for one in tries if one.times])
    several = options.times > 1
    if options.as_json:
        click.echo(json.dumps([one.to_json() for one in (tries if several else outcomes)], indent=1))
    elif several:
        show_tries(tries, options.table_format)
    elif options.run_all:
        show_outcomes(outcomes, options.table_format)
    else:
        from tidemark.harness.scenario.together import show_together

        if options.each:
            for outcome in outcomes:
                show_outcome(outcome, output())
        else:
            show_together(outcomes, output())
    failures = [words for one in tries for words in one.failures]
    if failures:
        raise click.ClickException(f"{len(failures)} could not be carried out: {failures[0]}")
    if options.by_verdict:
        return exit_code(outcome.verdict.valid for outcome in outcomes)
    if not all(outcome.matched for outcome in outcomes):
        return ANOMALY
    return exit_code(outcome.verdict.valid for outcome in outcomes if not outcome.scenario.outcomes)


def _pairs(chosen: Sequence[Scenario], world: World, variant: str | None) -> Pairs:
    """Which script is played under which variant: those that it speaks about; one without outcomes under any that is asked for.

    Raises:
        click.UsageError: there is nothing to play.
    """
    pairs: Pairs = []
    spoken: tuple[str, ...] = ()
    for script in chosen:
        spoken = scripts.variants_of(script)
        if not spoken or isinstance(world.system, OutsideSystem):
            spoken = (variant,) if variant else world.variants((UNLESS_TOLD,), typed=False)
        elif not world.is_simulated:
            spoken = tuple(name for name in spoken if name == variant or world.system.plays_unasked(name))
            spoken = (*variants_had(world.system, spoken).values(),)
        pairs += [(script, name) for name in spoken if variant in (None, name)]
    if not pairs:
        others = "other variants" if len(chosen) > 1 else ", ".join(spoken)
        raise click.UsageError(f"no outcome under {variant} is stated; it speaks about {others}")
    return pairs


def _is_file(name: str | None) -> bool:
    return name is not None and name.endswith(".scenario") and Path(name).is_file()


def _chosen(name: str) -> Scenario:
    """One that comes with Tidemark, or a file of one's own."""
    return scripts.read_scenario(Path(name)) if _is_file(name) else scripts.find(name)


def _refuse(options: ScenarioOptions, world: World) -> None:
    told = options.name is not None and options.times == 1
    no_table = "tidemark scenario --all prints, or --times" if told else ""
    refuse_with_json(options.table_format, as_json=options.as_json, no_table=no_table)
    if options.name and options.run_all:
        raise click.UsageError("give a scenario's NAME or --all, not both")
    if world.is_simulated and options.times > 1:
        raise click.UsageError("--times needs --world docker; in the simulator every time is the same")
    if world.is_simulated and options.out is not None:
        raise click.UsageError("--out needs --world docker or --system; in the simulator a scenario leaves no files")
    if not world.is_simulated and not (options.name or options.run_all):
        raise click.UsageError("--world docker needs a scenario's NAME or --all")


def _case(tries: Tries) -> Case:
    """A scenario under a variant: it failed if an outcome was not as expected, and broke if it could not be carried out; without
    an outcome that is expected the worst verdict counts.
    """
    suite = f"tidemark scenario {tries.scenario.name}"
    if not tries.mismatches and not tries.scenario.outcomes:
        worst = min(tries.outcomes, key=lambda one: WORST_FIRST.index(one.verdict.valid))
        return case_of(worst.verdict, suite, tries.variant)
    outcome = BROKEN if tries.failures else FAILED if tries.mismatches else PASSED
    words = tries.mismatches
    return Case(suite, tries.variant, outcome, words[0] if words else "", words)


def _simulated(pairs: Pairs, *, stop: bool = False) -> list[Tries]:
    found: list[Tries] = []
    for s, v in track(pairs, "Scenarios", console=output(stderr=True), transient=True, disable=len(pairs) < 10):
        found.append(Tries(s, v, [scripts.run_scenario(s, v)]))
        if stop and found[-1].mismatches:
            break
    return found


def _contained(pairs: Pairs, options: ScenarioOptions, world: World) -> list[Tries]:
    """All of them on the same containers, one after the other. After a run that could not be carried out they are replaced.

    Raises:
        click.ClickException: there are no containers to be had.
    """
    from tidemark.harness.scenario.live.target_factory import LiveTargets

    system = world.system
    brokers = max(scenario.cluster.brokers for scenario, _ in pairs)
    folders = ScriptFolders(writable_folder(options.out or RESULTS / "scripts"), world.suffix)
    console = output(stderr=True)
    tries = [Tries(scenario, variant, []) for scenario, variant in pairs]
    with containers(brokers, system, hosts=options.hosts) as session:
        for number, one in enumerate(tries, 1):
            for attempt in range(1, options.times + 1):
                words = f"{number} of {len(pairs)}: {one.scenario.name} under {one.variant}"
                words += f", try {attempt} of {options.times}" if options.times > 1 else ""
                targets = LiveTargets(session.open().machines, options.time_scale, system, folders)
                try:
                    with console.status(words) as status:
                        under, plays = _played_under(one.variant, system)
                        outcome = scripts.run_scenario(
                            one.scenario, under, targets.target, tells(status, words), plays=plays
                        )
                        outcome = judged(outcome, system)
                except CannotPlayError as error:
                    one.failures.append(str(error))
                    said = f"cannot be played: {error}"
                    console.print(f"{words}: {said}", highlight=False, markup=False, soft_wrap=True)
                    break
                except (ContainerWorldError, ScriptError) as error:
                    one.failures.append(str(error))
                    session.close()
                    said = f"not carried out: {error}"
                else:
                    one.outcomes.append(outcome)
                    said = f"{_in_short(outcome)}, kept in {outcome.folder}"
                    if options.stop_at_first and not outcome.matched:
                        console.print(f"{words}: {said}", highlight=False, markup=False, soft_wrap=True)
                        return tries
                console.print(f"{words}: {said}", highlight=False, markup=False, soft_wrap=True)
    return tries


def _played_under(variant: str, system: System) -> tuple[str | AnyVariant, str | None]:
    """The protocol, and whose commands are carried out, if not its own: on a system seen from outside those of its model."""
    if isinstance(system, OutsideSystem):
        return system.variant(variant), system.modelled_by or None
    return variant, None


def _in_short(outcome: ScenarioOutcome) -> str:
    seconds = outcome.history.meta["end_us"] / 1e6
    well = "as expected" if outcome.scenario.outcomes else outcome.verdict.valid
    return f"{well if outcome.matched else 'NOT as expected: ' + outcome.mismatches[0]} ({seconds:.0f} s)"
