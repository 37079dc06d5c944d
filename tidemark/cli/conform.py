"""``tidemark conform``: the model held against reality."""

from __future__ import annotations

import json
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console

from tidemark.cli.conform_all import AllOptions, conform_all
from tidemark.cli.exits import ANOMALY, VALID
from tidemark.cli.extras import need
from tidemark.cli.options import NEW_FILE, POSITIVE, RESULTS, RealRange, Several, VariantList, json_option
from tidemark.cli.output import output
from tidemark.cli.refused import refused
from tidemark.cli.system_option import OWN, system_called
from tidemark.cli.typed_options import Options, argument, flag, group, option, shared, taking
from tidemark.cli.world import World, containers
from tidemark.harness.conform import known_differences
from tidemark.harness.conform.players import MachinePlayer, SimulatorPlayer
from tidemark.harness.conform.reality import played_as, stands_for
from tidemark.harness.machines.errors import ContainerWorldError
from tidemark.harness.scenario import UnknownScenarioError, all_scenarios, find
from tidemark.harness.scenario.kept_run import ScriptFolders
from tidemark.harness.systems.system import SystemRefusalError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tidemark.harness.conform.differing_endings import SideBySide
    from tidemark.harness.conform.pairing import Pairing
    from tidemark.harness.conform.players import Player
    from tidemark.harness.scenario.play import SetUp

REAL = "kafka"
WORLDS = ("sim", "docker", REAL)
NOT_WITH_ALL = ("system", "variants", "worlds", "html")

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
  tidemark conform --all --out results/published/conform --page docs/results/conform.md

\b
Exit codes: 0 no difference is unexplained, 1 one is, 254 bad arguments, or a run that could not be carried out.
With --all: 2 none is, but not everything has been played."""


class ConformOptions(Options):
    """What ``tidemark conform`` can be asked."""

    names: tuple[str, ...] = argument(nargs=-1, metavar="[SCENARIO]…")
    system: str = option(
        "The real thing.", default="kafka:2.8.2", metavar="kafka:VERSION[@PROTOCOL]|kafka:[VERSION+]PATH"
    )
    variants: tuple[str, ...] = option(
        "Only under these variants.  [default: all that the system has]", type=VariantList(), default=()
    )
    worlds: tuple[str, ...] = option(
        "Where to play: sim, docker, kafka.  [default: all three]",
        type=Several("world", WORLDS, least=2, sort=True),
        default=WORLDS,
    )
    times: int = option("Tries in containers and on Kafka.", "--times", "--tries", type=POSITIVE, default=1)
    time_scale: float = option(
        "In containers and on Kafka: multiply every time of the scripts.", type=RealRange(min=0.2, max=100), default=1.0
    )
    html: Path | None = option("Write a page about it.", type=NEW_FILE)
    play_all: bool = flag("Every script on every system that can play it, kept and resumed.", "--all")
    every: AllOptions = group(AllOptions)
    as_json: bool = shared(json_option)


@click.command("conform", epilog=EPILOG)
@taking(ConformOptions)
def conform_command(options: ConformOptions) -> int:
    """Play scenarios in the simulator, in containers and on real Kafka, and say in what they differ."""
    need(containers=True, report=options.html is not None)  # of two worlds, one is not the simulator
    _refuse(options)
    if options.play_all:
        return conform_all(options.every, options.times, options.time_scale, as_json=options.as_json)
    from tidemark.harness.conform.differing_endings import stale
    from tidemark.harness.conform.show import STANDINGS, show_comparison, show_summary

    pairings = _pairings(options)
    console, status = output(), output(stderr=True)
    comparisons: list[SideBySide] = []
    with _worlds(pairings, options) as worlds:
        for number, pairing in enumerate(pairings, 1):
            words = f"{number} of {len(pairings)}: {pairing.words}"
            comparison = _compared(pairing, worlds, options.times, words, status)
            comparisons.append(comparison)
            status.print(f"{words}: {STANDINGS[comparison.standing][0]}", highlight=False, markup=False, soft_wrap=True)
            if not options.as_json:
                show_comparison(comparison, console)
    outdated = stale(known_differences.KNOWN_DIFFERENCES, comparisons)
    if options.as_json:
        data = {
            "system": options.system if REAL in options.worlds else None,
            "worlds": list(options.worlds),
            "times": options.times,
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
    if options.html is not None:
        from tidemark.harness.conform.conform_page import render

        render(comparisons, outdated, options.html)
        status.print(f"written: {options.html}", highlight=False, markup=False)
    failures = [words for one in comparisons for words in one.failures]
    if failures:
        raise click.ClickException(f"{len(failures)} could not be carried out: {failures[0]}")
    return ANOMALY if any(one.unexplained for one in comparisons) else VALID


def _refuse(options: ConformOptions) -> None:
    """What is for one of the two kinds of comparison only must not be asked of the other."""
    if not options.play_all:
        for word in options.every.typed.values():
            raise click.UsageError(f"{word} needs --all")
        return
    for name in NOT_WITH_ALL:
        if name in options.typed:
            raise click.UsageError(f"{options.typed[name]} cannot be given with --all")
    if options.names:
        raise click.UsageError("give SCENARIO names or --all, not both; --scripts chooses some of all")


def _pairings(options: ConformOptions) -> list[Pairing]:
    from tidemark.harness.conform.pairing import pair

    with refused(UnknownScenarioError, usage=True):
        scenarios = [find(name) for name in dict.fromkeys(options.names)] or all_scenarios()
    pairings = pair(scenarios, options.variants, _stand_in(options.system) if REAL in options.worlds else None)
    if not pairings:
        raise click.UsageError(
            "nothing to compare: no scenario speaks about these variants, or the system cannot express them"
        )
    return pairings


def _stand_in(system: str) -> Callable[[str], tuple[str, str] | None]:
    from tidemark.harness.systems.kafka.system import KafkaSystem

    with refused(SystemRefusalError, usage=True):
        return stands_for(KafkaSystem.parse(system, {}))


def _compared(pairing: Pairing, worlds: list[Player], times: int, words: str, status: Console) -> SideBySide:
    from tidemark.harness.conform.play_pairing import conform

    with status.status(words) as shown:
        return conform(
            pairing,
            worlds,
            times=times,
            findings=known_differences.KNOWN_DIFFERENCES,
            tell=lambda doing: shown.update(f"{words}, {doing}"),
        )


@contextmanager
def _worlds(pairings: list[Pairing], options: ConformOptions) -> Iterator[list[Player]]:
    """The worlds, ready; gone at the end.

    Raises:
        click.ClickException: one of them is not to be had.
    """
    brokers = max(pairing.scenario.cluster.brokers for pairing in pairings)
    with refused(ContainerWorldError), ExitStack() as machines:
        on_machines = {
            name: machines.enter_context(_on_machines(name, brokers, options))
            for name in options.worlds
            if name != "sim"
        }
        yield [on_machines.get(name) or SimulatorPlayer() for name in options.worlds]


@contextmanager
def _on_machines(name: str, brokers: int, options: ConformOptions) -> Iterator[Player]:
    from tidemark.harness.scenario.live.target_factory import LiveTargets

    text = options.system if name == REAL else OWN
    system = system_called(text)
    folders = ScriptFolders(RESULTS / "scripts", World("docker", system, text).suffix)
    with containers(brokers, system) as session:

        def set_up() -> SetUp:
            return played_as(system, LiveTargets(session.open().machines, options.time_scale, system, folders).target)

        yield MachinePlayer(name, set_up, session.close, real=name == REAL)
