"""``tidemark conform``: the model held against reality."""

from __future__ import annotations

import json
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from tidemark.cli.conform_all import OUT, SYSTEMS, conform_all
from tidemark.cli.exits import ANOMALY, VALID
from tidemark.cli.extras import need
from tidemark.cli.options import RealRange, VariantList, json_option
from tidemark.cli.world import containers
from tidemark.harness.scenario import UnknownScenarioError, all_scenarios, find

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tidemark.harness.conform.differing_endings import SideBySide
    from tidemark.harness.conform.pairing import Pairing
    from tidemark.harness.conform.players import Player
    from tidemark.harness.scenario import Scenario
    from tidemark.harness.scenario.play import SetUp

REAL = "kafka"
WORLDS = ("sim", "docker", REAL)
NOT_WITH_ALL = ("system", "variants", "worlds", "html")
ONLY_WITH_ALL = ("systems", "scripts", "out", "page", "no_play")

EPILOG = """\b
Examples:
  tidemark conform kip-101-data-loss                              in three worlds, under every rule that Kafka 2.8.2 has
  tidemark conform --system kafka:4.1.1 --html conform.html       all that 4.1.1 can express, and a page about it
  tidemark conform kip-279-scenario-1-n-20 --variants kafka-0.11,kafka-2.0 --times 3
  tidemark conform --worlds sim,docker                            the model against itself, on real processes

\b
Every script on every system, which takes hours: each result is kept as soon as it is known, and the same command again goes on;
in another terminal, meanwhile, it shares the work.
  tidemark conform --all                                          what is missing in results/conform
  tidemark conform --all --systems kafka:2.8.2,kafka:4.1.1 --scripts 'kip-279-*,missed-reign' --tries 3
  tidemark conform --all --no-play                                how it stands
  tidemark conform --all --out results/published/conform --page docs/conform-results.md

\b
Exit codes: 0 no difference is unexplained, 1 one is, 254 bad arguments, or a run that could not be carried out.
With --all: 2 none is, but not everything has been played."""


class WorldList(click.ParamType[Any]):
    """Worlds separated by commas."""

    name = "world,world,…"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Refuse what is no world, and fewer than two."""
        if isinstance(value, tuple):
            return value
        names = tuple(dict.fromkeys(name.strip() for name in value.split(",") if name.strip()))
        if len(names) < 2 or any(name not in WORLDS for name in names):
            self.fail(f"name at least two of {', '.join(WORLDS)}", param, ctx)
        return tuple(name for name in WORLDS if name in names)


@click.command("conform", epilog=EPILOG)
@click.argument("names", nargs=-1, metavar="[SCENARIO]…")
@click.option(
    "--system", default="kafka:2.8.2", show_default=True, metavar="kafka:VERSION[@PROTOCOL]", help="The real thing."
)
@click.option(
    "--variants", type=VariantList(), default=(), help="Only under these variants.  [default: all that the system has]"
)
@click.option(
    "--worlds", type=WorldList(), default=WORLDS, help="Where to play: sim, docker, kafka.  [default: all three]"
)
@click.option(
    "--times",
    "--tries",
    "times",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Tries in containers and on Kafka.",
)
@click.option(
    "--time-scale",
    type=RealRange(min=0.2, max=100),
    default=1.0,
    show_default=True,
    help="In containers and on Kafka: multiply every time of the scripts.",
)
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False, writable=True), help="Write a page about it.")
@click.option(
    "--all", "play_all", is_flag=True, help="Every script on every system that can play it, kept and resumed."
)
@click.option(
    "--systems",
    default=SYSTEMS,
    show_default=True,
    metavar="SYSTEM,…",
    help="With --all: the real things, as --system.",
)
@click.option(
    "--scripts", default="", metavar="PATTERN,…", help="With --all: only scripts of these names, such as 'kip-279-*'."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help=f"With --all: folder of the results, one file for each script and system.  [default: {OUT}]",
)
@click.option(
    "--page",
    type=click.Path(path_type=Path, dir_okay=False, writable=True),
    help="With --all: write the table of all results, as Markdown.",
)
@click.option("--no-play", is_flag=True, help="With --all: play nothing; tell what there is and what is missing.")
@json_option
def conform_command(
    names: tuple[str, ...],
    variants: tuple[str, ...],
    as_json: bool,
    html: Path | None,
    **options: Any,  # noqa: ANN401
) -> int:
    """Play scenarios in the simulator, in containers and on real Kafka, and say in what they differ."""
    need(containers=True, report=html is not None)  # of two worlds, one is not the simulator
    _refuse(options["play_all"], names)
    if options["play_all"]:
        return conform_all(options, as_json=as_json)
    from tidemark.harness.conform.differing_endings import stale
    from tidemark.harness.conform.known_differences import KNOWN_DIFFERENCES
    from tidemark.harness.conform.show import STANDINGS, show_comparison, show_summary

    pairings = _pairings(_scenarios(names), variants, options)
    console, status = Console(), Console(stderr=True)
    comparisons: list[SideBySide] = []
    with _worlds(pairings, options) as worlds:
        for number, pairing in enumerate(pairings, 1):
            words = f"{number} of {len(pairings)}: {pairing.words}"
            comparison = _compared(pairing, worlds, options["times"], words, status)
            comparisons.append(comparison)
            status.print(f"{words}: {STANDINGS[comparison.standing][0]}", highlight=False, markup=False, soft_wrap=True)
            if not as_json:
                show_comparison(comparison, console)
    outdated = stale(KNOWN_DIFFERENCES, comparisons)
    if as_json:
        data = {
            "system": options["system"] if REAL in options["worlds"] else None,
            "worlds": list(options["worlds"]),
            "times": options["times"],
            "comparisons": [one.to_json() for one in comparisons],
            "unexplained": sum(len(one.unexplained) for one in comparisons),
            "stale": [
                {"aspect": one.aspect, "scenario": one.scenario, "system": one.system, "why": one.why}
                for one in outdated
            ],
        }
        click.echo(json.dumps(data, indent=1, ensure_ascii=False))
    else:
        show_summary(comparisons, outdated, console)
    if html is not None:
        from tidemark.harness.conform.conform_page import render

        render(comparisons, outdated, html)
        status.print(f"written: {html}", highlight=False, markup=False)
    failures = [words for one in comparisons for words in one.failures]
    if failures:
        raise click.ClickException(f"{len(failures)} could not be carried out: {failures[0]}")
    return ANOMALY if any(one.unexplained for one in comparisons) else VALID


def _refuse(play_all: bool, names: tuple[str, ...]) -> None:
    """What is for one of the two kinds of comparison only must not be asked of the other."""
    context = click.get_current_context()
    for name in NOT_WITH_ALL if play_all else ONLY_WITH_ALL:
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{option} cannot be given with --all" if play_all else f"{option} needs --all")
    if play_all and names:
        raise click.UsageError("give SCENARIO names or --all, not both; --scripts chooses some of all")


def _scenarios(names: tuple[str, ...]) -> list[Scenario]:
    try:
        return [find(name) for name in dict.fromkeys(names)] or all_scenarios()
    except UnknownScenarioError as error:
        raise click.UsageError(str(error)) from None


def _pairings(scenarios: list[Scenario], variants: tuple[str, ...], options: dict[str, Any]) -> list[Pairing]:
    from tidemark.harness.conform.pairing import pair

    pairings = pair(scenarios, variants, _stand_in(options["system"]) if REAL in options["worlds"] else None)
    if not pairings:
        raise click.UsageError(
            "nothing to compare: no scenario speaks about these variants, or the system cannot express them"
        )
    return pairings


def _stand_in(system: str) -> Callable[[str], tuple[str, str] | None]:
    from tidemark.harness.conform.reality import stands_for
    from tidemark.harness.systems.kafka.system import KafkaSystem
    from tidemark.harness.systems.system import SystemRefusalError

    try:
        return stands_for(KafkaSystem.parse(system, {}))
    except SystemRefusalError as error:
        raise click.UsageError(str(error)) from None


def _compared(pairing: Pairing, worlds: list[Player], times: int, words: str, status: Console) -> SideBySide:
    from tidemark.harness.conform.known_differences import KNOWN_DIFFERENCES
    from tidemark.harness.conform.play_pairing import conform

    with status.status(words) as shown:
        return conform(
            pairing,
            worlds,
            times=times,
            findings=KNOWN_DIFFERENCES,
            tell=lambda doing: shown.update(f"{words}, {doing}"),
        )


@contextmanager
def _worlds(pairings: list[Pairing], options: dict[str, Any]) -> Iterator[list[Player]]:
    """The worlds, ready; gone at the end.

    Raises:
        click.ClickException: one of them is not to be had.
    """
    from tidemark.harness.conform.players import SimulatorPlayer
    from tidemark.harness.machines.errors import ContainerWorldError

    brokers = max(pairing.scenario.cluster.brokers for pairing in pairings)
    try:
        with ExitStack() as machines:
            on_machines = {
                name: machines.enter_context(_on_machines(name, brokers, options))
                for name in options["worlds"]
                if name != "sim"
            }
            yield [on_machines.get(name) or SimulatorPlayer() for name in options["worlds"]]
    except ContainerWorldError as error:
        raise click.ClickException(str(error)) from None


@contextmanager
def _on_machines(name: str, brokers: int, options: dict[str, Any]) -> Iterator[Player]:
    from tidemark.harness.conform.players import MachinePlayer
    from tidemark.harness.conform.reality import played_as
    from tidemark.harness.scenario.live.target_factory import LiveTargets
    from tidemark.harness.systems.registry import find_system

    system = find_system(options["system"] if name == REAL else "tidemark")
    with containers({"hosts": None, "clients": "confluent"}, brokers, system) as session:

        def set_up() -> SetUp:
            return played_as(system, LiveTargets(session.open().machines, options["time_scale"], system).target)

        yield MachinePlayer(name, set_up, session.close, real=name == REAL)
