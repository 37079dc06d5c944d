"""``tidemark hunt``: search the model for what goes wrong."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Self

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress as Bar
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

from tidemark.cli.confirm import Ended, brokers_for, carry_on, confirm_options, forget, tell
from tidemark.cli.corpus import corpus_option, keep_catches
from tidemark.cli.exits import ANOMALY, INTERRUPTED, UNKNOWN, VALID
from tidemark.cli.options import (
    RESULTS,
    SEED,
    RealRange,
    VariantName,
    cluster_of,
    cluster_options,
    contract_option,
    json_option,
    writable_folder,
)
from tidemark.cli.own_rules import rule_option
from tidemark.cli.spread import jobs_option, master_option, spread_over
from tidemark.cli.workload_options import workload_of, workload_options
from tidemark.harness.runs.own_rules import variant_options
from tidemark.nemesis import PROFILES, REAL_ONLY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.harness.search.hunt import Hunt, Progress
    from tidemark.harness.search.hunt.kept_hunt import KeptHunt

IN_THE_SIMULATOR = [name for name, kinds in PROFILES.items() if not REAL_ONLY & set(kinds)]
MOST_HUNTS = 6
"""So many plans of which no script can be made are enough."""
SAVE_EVERY_S = 20.0

EPILOG = """\b
Examples:
  tidemark hunt                                                   a minute on kafka-2.7: any violation
  tidemark hunt --variant kafka-2.0 --for divergence --until-found
  tidemark hunt --variant kafka-4.0 --for lost-committed-write --seconds 120
  tidemark hunt --variant kafka-2.7 --profile destructive --tries 20000 --seed 7
  tidemark hunt --variant kafka-2.7 --producers 4 --rate 50 --batch 10      busier clients than are drawn
  tidemark hunt --variant kafka-4.0 --seconds 600 --master spark://host:7077 --round 512
  tidemark hunt --variant kafka-4.0+forget-log-ends --seconds 1800    the repair: nothing is to be found
  tidemark hunt --variant kafka-4.0 --for lost-committed-write --confirm kafka:4.3.1
                                   hunted, shrunk, written as a script, and played ten times on real brokers

\b
The same command again goes on with the plans it had, and with the tries that --confirm has not made yet. What is caught is
kept for `tidemark run --corpus`. Exit codes: 1 if something was caught (with --confirm: and seen on the brokers; 2 if it was
not), 0 if nothing was, 130 if it was ended (what was caught is kept), 254 for bad arguments."""


@click.command("hunt", epilog=EPILOG)
@click.option("--variant", type=VariantName(), default="kafka-2.7", show_default=True, help="Protocol variant.")
@click.option(
    "--for",
    "names",
    multiple=True,
    metavar="ANOMALY",
    help="What to look for (again for more); any violation if not given.",
)
@click.option(
    "--profile",
    type=click.Choice(IN_THE_SIMULATOR),
    default="intact",
    show_default=True,
    help="Faults to draw from (docs/faults.md).",
)
@click.option("--seconds", type=RealRange(min=1), help="How long to search.  [default: 60]")
@click.option("--tries", type=click.IntRange(min=1), help="How many plans to try, all together, instead of a time.")
@click.option("--until-found", is_flag=True, help="Stop at the first; without --seconds or --tries search until then.")
@click.option("--seed", type=SEED, default=1, show_default=True, help="Seed of the search.")
@jobs_option
@master_option
@click.option(
    "--round",
    "plans_a_round",
    type=click.IntRange(min=1),
    default=32,
    show_default=True,
    help="Plans tried side by side; more keeps more cores busy, and is another search.",
)
@cluster_options
@workload_options
@contract_option
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder.  [default: results/hunts/VARIANT-PROFILE-SEED]",
)
@corpus_option
@confirm_options
@click.option("--fresh", is_flag=True, help="Begin anew, though the folder holds such a hunt; that one is deleted.")
@json_option
@rule_option
def hunt_command(**options: Any) -> int:  # noqa: ANN401 - click hands them over by name
    """Search random plans on the model for an anomaly, guided by what they exercise, and keep the smallest plans that show it.

    Plans are changed rather than drawn anew where they came nearer than others to where bugs are: near misses, reigns skipped,
    truncations behind a leader's back (docs/searching.md). Who tries them, and how many, changes nothing but the time.
    """
    from tidemark.harness.search.hunt import Hunt, Quarry
    from tidemark.harness.search.hunt.hunt import Attempt
    from tidemark.harness.search.hunt.kept_hunt import HuntDiffersError, KeptHunt

    _refuse_unknown(options["names"])
    free = _asked_for_no_shape()
    brokers = brokers_for(options)
    cluster = cluster_of(options)
    if options["seconds"] is None and options["tries"] is None and not options["until_found"]:
        options["until_found"] = options["as_script"] or brokers is not None
        options["seconds"] = None if options["until_found"] else 60.0
    variant, profile, seed = options["variant"], options["profile"], options["seed"]
    asked = workload_of(options)
    quarry = Quarry(tuple(dict.fromkeys(options["names"])))
    attempt = Attempt(variant, quarry, options["contract"])
    hunt = Hunt(attempt, profile, cluster, seed, options["plans_a_round"], free=free, asked=asked)
    folder = options["out"] or RESULTS / "hunts" / f"{variant}-{profile}-{seed}"
    settings = {
        "variant": variant,
        "for": list(quarry.names),
        "profile": profile,
        "seed": seed,
        "round": options["plans_a_round"],
        "contract": options["contract"],
        "free": free,
        "cluster": json.loads(json.dumps(asdict(cluster))),
    }
    if asked:
        settings["workload"] = asked.to_json()
    kept = KeptHunt(writable_folder(folder), settings)
    if options["fresh"]:
        kept.forget()
        forget(kept)
    try:
        kept.restore(hunt)
    except HuntDiffersError as error:
        raise click.ClickException(str(error)) from None
    began = hunt.corpus.tries
    clock = time.monotonic()
    wants_script = options["as_script"] or brokers is not None
    further: Ended | None = None
    without: dict[str, str] = {}
    new: list[Path] = []
    for _ in range(MOST_HUNTS):
        ended = _search(hunt, kept, options, Console(stderr=True), len(without))
        caught = [(one, kept.results.path(one.file)) for one in kept.catches]
        new = keep_catches(options["corpus"], caught, variant, options["contract"], _command(options))
        if not options["as_json"]:
            _tell(hunt, kept, options, new, hunt.corpus.tries - began, time.monotonic() - clock)
        if not (ended and kept.catches and wants_script):
            break
        known = len(without)
        further = carry_on(kept, brokers, options, _again(options), without)
        if not options["as_json"]:
            tell(further, Console())
        if further.kept is not None or not options["until_found"] or options["tries"] or len(without) == known:
            break
    if options["as_json"]:
        _tell(hunt, kept, options, new, hunt.corpus.tries - began, time.monotonic() - clock, further)
    if not ended or (further is not None and further.interrupted):
        return INTERRUPTED
    if brokers is not None and kept.catches:
        confirmation = further.confirmation if further is not None else None
        return ANOMALY if confirmation is not None and confirmation.seen else UNKNOWN
    return ANOMALY if kept.catches else VALID


def _asked_for_no_shape() -> bool:
    """Whether brokers and replicas are left to the hunt."""
    context = click.get_current_context()
    sources = {context.get_parameter_source(name) for name in ("brokers", "replication_factor")}
    return sources == {click.core.ParameterSource.DEFAULT}


def _again(options: dict[str, Any]) -> str:
    """The command, as far as it is not the default."""
    words = ["tidemark hunt", variant_options(options["variant"])]
    words += [f"--for {name}" for name in options["names"]]
    words += [f"--profile {options['profile']}"] if options["profile"] != "intact" else []
    words += [f"--seed {options['seed']}"] if options["seed"] != 1 else []
    words += workload_of(options).options()
    words += [f"--confirm {quote(options['confirm'])}"] if options["confirm"] else ["--script"]
    return " ".join(words)


def _refuse_unknown(names: tuple[str, ...]) -> None:
    from tidemark.checkers.verdict.known_anomalies import NEAR_MISSES, OF_RUNS

    known = (*OF_RUNS, *NEAR_MISSES)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise click.UsageError(f"there is no anomaly {unknown[0]!r} to hunt for; there are {', '.join(known)}")


def _search(hunt: Hunt, kept: KeptHunt, options: dict[str, Any], status: Console, of_no_use: int = 0) -> bool:
    """Search until it is enough; false if the person stopped it. What was found until then is kept.

    Of the plans that were kept so many are of no use, so that one more is to be found.
    """
    try:
        with _Shown(status, endless=options["until_found"] and not options["seconds"]) as shown:
            for progress in _rounds(hunt, options, kept, of_no_use):
                caught = [catch for found in progress.found if (catch := kept.take(found)) is not None]
                shown.update(progress, kept.caught.total())
                for catch in caught:
                    if not shown.told(f"{catch.name}: {catch.cause}"):
                        status.print(
                            f"caught after {catch.number} tries: [bold]{catch.name}[/], {catch.faults} faults",
                            soft_wrap=True,
                        )
                shown.save_now_and_then(lambda: kept.save(hunt))
                if progress.found and options["until_found"]:
                    break
    except KeyboardInterrupt:
        return False
    finally:
        kept.save(hunt)
    return True


def _rounds(hunt: Hunt, options: dict[str, Any], kept: KeptHunt, of_no_use: int) -> Iterator[Progress]:
    """Rounds until time or tries are over."""
    if (options["until_found"] and len(kept.catches) > of_no_use) or (
        options["tries"] or hunt.corpus.tries + 1
    ) <= hunt.corpus.tries:
        return
    until = time.monotonic() + (options["seconds"] or float("inf"))
    with spread_over(options["jobs"], options["master"]) as spread:
        for progress in hunt.rounds(spread):
            yield progress
            if time.monotonic() >= until or (options["tries"] and progress.tries >= options["tries"]):
                return


def _command(options: dict[str, Any]) -> str:
    names = "".join(f" --for {name}" for name in options["names"])
    how = f"--variant {options['variant']}{names} --profile {options['profile']} --seed {options['seed']}"
    size = "" if options["plans_a_round"] == 32 else f" --round {options['plans_a_round']}"
    return " ".join([f"tidemark hunt {how}{size}", *workload_of(options).options()])


class _Shown:
    """A line that says how the hunt stands, where there is a terminal."""

    def __init__(self, console: Console, *, endless: bool) -> None:
        self._bar = Bar(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("hunting" + (" until something is found" if endless else ""), total=None)
        self._told: set[str] = set()
        self._saved = time.monotonic()

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def update(self, progress: Progress, caught: int) -> None:
        """After a round."""
        words = f"{progress.tries:,} plans, {progress.marks} marks, {progress.corpus} kept, {caught} caught"
        self._bar.update(self._task, description=words)

    def told(self, words: str) -> bool:
        """Whether an anomaly of this cause was told before; now it is."""
        before = words in self._told
        self._told.add(words)
        return before

    def save_now_and_then(self, save: Any) -> None:  # noqa: ANN401
        """Save, if it is some time ago."""
        if time.monotonic() - self._saved > SAVE_EVERY_S:
            save()
            self._saved = time.monotonic()


def _tell(
    hunt: Hunt,
    kept: KeptHunt,
    options: dict[str, Any],
    new: list[Path],
    tries: int,
    seconds: float,
    further: Ended | None = None,
) -> None:
    from tidemark.checkers.marks import by_mark
    from tidemark.nodes.families import family_of, parse_variant

    variant = options["variant"]
    exercised = by_mark(hunt.corpus.seen, family_of(parse_variant(variant)).marks)
    catches = sorted(kept.catches, key=lambda one: (one.name, one.faults, one.number))
    if options["as_json"]:
        told = {
            "variant": variant,
            "folder": str(kept.results.folder),
            "tries": hunt.corpus.tries,
            "caught": kept.caught.total(),
            "causes": [
                {"name": name, "cause": cause, "tries": tries} for (name, cause), tries in sorted(kept.caught.items())
            ],
            "catches": [{**one._asdict(), "plan": str(kept.results.path(one.file))} for one in catches],
            "kept": [str(file) for file in new],
            "exercised": exercised,
            **({} if further is None else {"confirmed": further.to_json()}),
        }
        click.echo(json.dumps(told))
        return
    console = Console()
    rate = f", {tries / seconds:.0f} a second" if tries and seconds else ""
    console.print(
        f"[bold]{variant}[/]: {hunt.corpus.tries:,} plans tried{rate}; {kept.caught.total():,} of them caught something"
    )
    near = [name for name in hunt.corpus.seen if name.startswith("near:")]
    if near:
        misses = ", ".join(f"{name.removeprefix('near:')} {hunt.corpus.seen[name]:,}" for name in sorted(near))
        console.print(f"  near misses, in runs: {misses}", soft_wrap=True)
    missing = [name for name, runs in exercised.items() if not runs]
    if missing:
        console.print(f"  never reached: {', '.join(missing)}", soft_wrap=True, highlight=False)
    for (name, cause), times in sorted(kept.caught.items(), key=lambda one: (-one[1], one[0])):
        smallest = min(
            (one for one in catches if (one.name, one.cause) == (name, cause)), key=lambda one: (one.faults, one.number)
        )
        often = "once" if times == 1 else f"{times:,} times"
        console.print(f"[red]✗[/] [bold]{name}[/], {often}, because {escape(cause)}", soft_wrap=True)
        console.print(
            f"  with {smallest.faults} faults (try {smallest.number}): {escape(smallest.message)}", soft_wrap=True
        )
        file = quote(str(kept.results.path(smallest.file)))
        for command in ("run", "shrink"):
            what = f" --anomaly {name}" if command == "shrink" and options["names"] else ""
            words = f"  tidemark {command} {variant_options(variant)} --plan {file}{what}"
            console.print(words, soft_wrap=True, highlight=False)
    if new:
        plans = "one plan is" if len(new) == 1 else f"{len(new)} plans are"
        console.print(
            f"  {plans} kept in {options['corpus']}, for tidemark run --corpus", soft_wrap=True, highlight=False
        )
    if not catches:
        console.print("  nothing was caught: no proof that there is nothing", highlight=False)
