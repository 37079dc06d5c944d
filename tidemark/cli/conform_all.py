"""``tidemark conform --all``: every script on every system, kept, resumed, published."""

from __future__ import annotations

import json
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import track

from tidemark.cli.exits import ANOMALY, INTERRUPTED, UNKNOWN, VALID
from tidemark.cli.options import FOLDER, NEW_FILE, RESULTS, words_in, writable_folder
from tidemark.cli.output import output
from tidemark.cli.refused import refused
from tidemark.cli.typed_options import Options, flag, option
from tidemark.cli.world import World, containers
from tidemark.cli.writing_to import writing_file
from tidemark.harness.conform import known_differences
from tidemark.harness.conform.players import MachinePlayer
from tidemark.harness.conform.reality import played_as
from tidemark.harness.machines.errors import ContainerWorldError
from tidemark.harness.runs.kept_results import FolderInUseError, KeptResults
from tidemark.harness.scenario import all_scenarios
from tidemark.harness.scenario.kept_run import ScriptFolders
from tidemark.harness.systems.system import SystemRefusalError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tidemark.harness.conform.kept_pair import KeptPair
    from tidemark.harness.conform.pairs import Pair
    from tidemark.harness.conform.players import Player
    from tidemark.harness.scenario import Scenario
    from tidemark.harness.systems.system import System

SYSTEMS = "kafka:2.8.2,kafka:3.9.2,kafka:4.1.1,kafka:4.3.1"
OUT = RESULTS / "conform"

Played = list[tuple["Pair", "KeptPair"]]


class AllOptions(Options):
    """--systems, --scripts, --out, --page, --no-play."""

    systems: str = option("With --all: the real things, as --system.", default=SYSTEMS, metavar="SYSTEM,…")
    scripts: str = option(
        "With --all: only scripts of these names, such as 'kip-279-*'.",
        default="",
        metavar="PATTERN,…",
        show_default=False,
    )
    out: Path = option(
        f"With --all: folder of the results, one file for each script and system.  [default: {OUT}]",
        type=FOLDER,
        default=OUT,
    )
    page: Path | None = option("With --all: write the table of all results, as Markdown.", type=NEW_FILE)
    no_play: bool = flag("With --all: play nothing; tell what there is and what is missing.")


def conform_all(options: AllOptions, tries: int, time_scale: float, *, as_json: bool) -> int:
    """Play what is missing, write the page, and say how everything came out.

    Raises:
        click.ClickException: there are no machines to be had; what was played is kept.
    """
    from tidemark.harness.conform.show_all import sentence, show_all
    from tidemark.harness.conform.totals import totals

    status = output(stderr=True)
    systems = _systems(options.systems)
    results = KeptResults(writable_folder(options.out))
    played = _pairs(_scenarios(options.scripts), systems, results, status)
    kept = [one for _, one in played]
    interrupted = False
    if not options.no_play:
        with refused(FolderInUseError, then="; choose another folder with --out"):
            with results.held(alone=False):
                interrupted = not _play(played, systems, results, tries, time_scale, status)
            for pair, one in played:
                one.renewed(pair, results)
    if options.page is not None:
        _write_page(options.page, results)
        status.print(f"written: {options.page}", highlight=False, markup=False)
    found = totals(kept, known_differences.KNOWN_DIFFERENCES)
    if interrupted:
        words = f"{sentence(kept, known_differences.KNOWN_DIFFERENCES)}. Give the same command again to go on in {results.folder}."
        status.print(words, highlight=False, markup=False, soft_wrap=True)
        return INTERRUPTED
    if as_json:
        data = {
            "out": str(results.folder),
            "tries": tries,
            "totals": found.to_json(),
            "pairs": [_told(one) for one in kept],
        }
        click.echo(json.dumps(data, indent=1, ensure_ascii=False))
    else:
        show_all(kept, known_differences.KNOWN_DIFFERENCES, output())
    if found.unexplained:
        return ANOMALY
    return UNKNOWN if any(one.lacks(tries) for one in kept) else VALID


def _told(one: KeptPair) -> dict[str, Any]:
    return {
        "scenario": one.scenario,
        "system": one.system,
        "preset": one.preset,
        "model": one.model,
        "standing": one.standing(known_differences.KNOWN_DIFFERENCES),
        "tries": len(one.tries),
        "why": one.cannot or one.failure or None,
        "differences": [found.to_json() for found in one.differences(known_differences.KNOWN_DIFFERENCES)],
    }


def _systems(text: str) -> dict[str, System]:
    from tidemark.harness.systems.kafka.system import KafkaSystem

    names = words_in(text)
    if not names:
        raise click.UsageError("--systems names none; use kafka:VERSION or kafka:VERSION@PROTOCOL, separated by commas")
    with refused(SystemRefusalError, usage=True):
        return {name: KafkaSystem.parse(name, {}) for name in names}


def _scenarios(text: str) -> list[Scenario]:
    """The scripts whose names match a pattern; all, if there is none."""
    patterns = [pattern.strip().lower() for pattern in text.split(",") if pattern.strip()] or ["*"]
    scenarios = all_scenarios()
    for pattern in patterns:
        if not any(fnmatchcase(one.name.lower(), pattern) for one in scenarios):
            raise click.UsageError(f"no script is called {pattern!r}; tidemark scenario lists them")
    return [one for one in scenarios if any(fnmatchcase(one.name.lower(), pattern) for pattern in patterns)]


def _pairs(scenarios: list[Scenario], systems: dict[str, System], results: KeptResults, status: Console) -> Played:
    """All pairs with what is kept of them. Asking their models takes some seconds."""
    from tidemark.harness.conform.kept_pair import kept_pair
    from tidemark.harness.conform.pairs import all_pairs

    pairs = track(all_pairs(scenarios, systems), "Asking the models", console=status, transient=True)
    played = [(pair, kept_pair(pair, results)) for pair in pairs]
    if not played:
        raise click.UsageError("nothing to play: no preset stands for these systems")
    return played


def _play(
    played: Played, systems: dict[str, System], results: KeptResults, tries: int, time_scale: float, status: Console
) -> bool:
    """Play what is missing; false if the person stopped it."""
    from tidemark.harness.conform.play_all import HISTORIES, play_missing
    from tidemark.harness.conform.show_all import AllProgress

    @contextmanager
    def open_player(on: str, pairs: Sequence[Pair]) -> Iterator[Player]:
        brokers = max(pair.pairing.scenario.cluster.brokers for pair in pairs)
        folders = ScriptFolders(results.folder / HISTORIES, World("docker", systems[on], on).suffix, free=True)
        with open_kafka(systems[on], brokers, time_scale, folders) as player:
            yield player

    kept = [one for _, one in played]
    try:
        with (
            refused(ContainerWorldError, then=f"; what was played is kept in {results.folder}"),
            AllProgress(kept, tries, known_differences.KNOWN_DIFFERENCES, status) as watcher,
        ):
            play_missing(played, results, open_player, watcher, tries=tries)
    except KeyboardInterrupt:
        return False
    return True


@contextmanager
def open_kafka(system: System, brokers: int, time_scale: float, folders: ScriptFolders) -> Iterator[Player]:
    """Brokers of a system, for as many scripts as are played on them; gone at the end."""
    from tidemark.harness.scenario.live.target_factory import LiveTargets

    with containers(brokers, system, tidy=True) as session:
        yield MachinePlayer(
            "kafka",
            lambda: played_as(system, LiveTargets(session.open().machines, time_scale, system, folders).target),
            session.close,
            real=True,
        )


def _write_page(page: Path, results: KeptResults) -> None:
    """From all files in the folder, so that the page says what they say."""
    from tidemark.harness.conform.kept_pair import all_kept
    from tidemark.harness.conform.results_page import results_page

    kept = all_kept(results)
    if not kept:
        raise click.ClickException(f"there is nothing in {results.folder} to write a page about")
    with writing_file(page):
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(results_page(kept, known_differences.KNOWN_DIFFERENCES), encoding="utf-8")
