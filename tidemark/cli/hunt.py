"""``tidemark hunt``: search the model for what goes wrong."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress as Bar
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

from tidemark.cli import options as given
from tidemark.cli.cluster_options import ClusterOptions
from tidemark.cli.confirm import Confirming, ConfirmOptions, Ended, brokers_for, carry_on, forget, make_do, tell
from tidemark.cli.corpus import corpus_option, keep_catches, kept_plans
from tidemark.cli.exits import ANOMALY, INTERRUPTED, UNKNOWN, VALID
from tidemark.cli.output import output
from tidemark.cli.own_rules import rule_option
from tidemark.cli.refused import refused
from tidemark.cli.spread import jobs_option, master_option, spread_over
from tidemark.cli.table_format import TEXT, format_option, print_table, refuse_with_json
from tidemark.cli.typed_options import Options, flag, group, option, shared, taking
from tidemark.cli.workload_options import WorkloadOptions
from tidemark.harness.runs.own_rules import variant_options
from tidemark.nemesis import PROFILES, REAL_ONLY
from tidemark.nemesis.kinds import DAMAGES
from tidemark.nodes.families import family_of, parse_variant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.harness.report.result_table import ResultTable
    from tidemark.harness.search.hunt import Hunt, Progress
    from tidemark.harness.search.hunt.kept_hunt import Catch, KeptHunt

IN_THE_SIMULATOR = [name for name, kinds in PROFILES.items() if not (REAL_ONLY | {*DAMAGES}) & set(kinds)]
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
  tidemark hunt --variant kafka-2.0 --format csv > found.csv        a line for each cause; also latex, markdown
  tidemark hunt --variant kafka-4.0 --for lost-committed-write --confirm kafka:4.3.1
                                   hunted, shrunk, written as a script, and played ten times on real brokers
  tidemark hunt --variant fluss-0.9 --confirm fluss:0.9.1             the same on a system that the variant is the model of

\b
The same command again goes on with the plans it had, and with the tries that --confirm has not made yet. What is caught is
kept for `tidemark run --corpus`. Exit codes: 1 if something was caught (with --confirm: and seen on the brokers; 2 if it was
not), 0 if nothing was, 130 if it was ended (what was caught is kept), 254 for bad arguments."""


class HuntOptions(Options):
    """What ``tidemark hunt`` can be asked."""

    variant: str = shared(given.variant_option)
    names: tuple[str, ...] = option(
        "What to look for (again for more); any violation if not given.", "--for", multiple=True, metavar="ANOMALY"
    )
    profile: str | None = option(
        "Faults to draw from (docs/faults.md).  [default: all that the variant can bear, by what they yield; with --script "
        "or --confirm intact]",
        type=click.Choice(IN_THE_SIMULATOR),
    )
    with_known: bool = flag("Hunt for what is known of the variant, too, rather than count it and look beside it.")
    seconds: float | None = option("How long to search.  [default: 60]", type=given.RealRange(min=1))
    tries: int | None = option("How many plans to try, all together, instead of a time.", type=given.POSITIVE)
    until_found: bool = flag("Stop at the first; without --seconds or --tries search until then.")
    seed: int = option("Seed of the search.", type=given.SEED, default=1)
    jobs: int | None = shared(jobs_option)
    master: str | None = shared(master_option)
    plans_a_round: int = option(
        "Plans tried side by side; more keeps more cores busy, and is another search.",
        "--round",
        type=given.POSITIVE,
        default=32,
    )
    cluster: ClusterOptions = group(ClusterOptions)
    workload: WorkloadOptions = group(WorkloadOptions)
    contract: str | None = shared(given.contract_option)
    out: Path | None = option("Folder.  [default: results/hunts/VARIANT-PROFILE-SEED]", type=given.FOLDER)
    corpus: Path = shared(corpus_option)
    confirm: ConfirmOptions = group(ConfirmOptions)
    fresh: bool = flag("Begin anew, though the folder holds such a hunt; that one is deleted.")
    table_format: str = shared(format_option)
    as_json: bool = shared(given.json_option)

    @property
    def in_words(self) -> bool:
        """Whether what is found is told as it is found, and not in one piece for a program or a page."""
        return not self.as_json and self.table_format == TEXT

    @property
    def drawn_from(self) -> str | None:
        """The profile; None: all. Scripts are for brokers, which are given no power losses by default."""
        return self.profile or ("intact" if self.confirm.wants_script else None)

    @property
    def wants_known(self) -> bool:
        """Whether what is known is as good as anything new: who looks for one anomaly, or for a script, wants it."""
        return self.with_known or self.confirm.wants_script or bool(self.names and self.until_found)

    def limits(self) -> Limits:
        """When it has searched enough: if nobody says, when there is a script to be made, or in a minute."""
        if self.seconds is not None or self.tries is not None or self.until_found:
            return Limits(self.seconds, self.tries, self.until_found)
        return Limits(None, None, until_found=True) if self.confirm.wants_script else Limits(60.0, None, False)


class Limits(NamedTuple):
    """When a hunt ends: in a time, after so many tries, at the first that is found."""

    seconds: float | None
    tries: int | None
    until_found: bool


@click.command("hunt", epilog=EPILOG)
@rule_option
@taking(HuntOptions)
def hunt_command(options: HuntOptions) -> int:
    """Search random plans on the model for an anomaly, guided by what they exercise, and keep the smallest plans that show it.

    Plans are changed rather than drawn anew where they came nearer than others to where bugs are: near misses, reigns skipped,
    truncations behind a leader's back (docs/searching.md). Who tries them, and how many, changes nothing but the time.
    """
    from tidemark.harness.search.hunt import Hunt, Quarry
    from tidemark.harness.search.hunt.hunt import Attempt
    from tidemark.harness.search.hunt.kept_hunt import HuntDiffersError, KeptHunt
    from tidemark.harness.zoo.known import known_of

    _refuse_unknown(options.names)
    refuse_with_json(options.table_format, as_json=options.as_json)
    variant, profile, seed = options.variant, options.drawn_from, options.seed
    brokers = brokers_for(options.confirm, variant, options.names, options.cluster.partitions)
    cluster, asked, limits = options.cluster.spec(), options.workload.asked(), options.limits()
    # Brokers, replicas and partitions are left to the hunt, unless there must be machines for them.
    free = not {"brokers", "replication_factor", "partitions"} & options.typed.keys() and not (
        brokers and brokers.by_plan
    )
    names = options.names if brokers is None else brokers.names
    contract = options.contract or (brokers.contract if brokers is not None else None)
    without = frozenset[str]() if brokers is None else brokers.without
    quarry = Quarry(tuple(dict.fromkeys(names)))
    known = None if options.wants_known else known_of(variant, kept_plans(options.corpus))
    attempt = Attempt(variant, quarry, contract, known)
    hunt = Hunt(attempt, profile, cluster, seed, options.plans_a_round, free=free, asked=asked, without=without)
    settings = {
        "variant": variant,
        "for": list(quarry.names),
        "profile": profile,
        "known": known is not None,
        "seed": seed,
        "round": options.plans_a_round,
        "contract": contract,
        "free": free,
        "cluster": json.loads(json.dumps(asdict(cluster))),
    }
    if without:
        settings["without"] = sorted(without)
    if asked:
        settings["workload"] = asked.to_json()
    kept = KeptHunt(
        given.writable_folder(options.out or given.RESULTS / "hunts" / f"{variant}-{profile or 'all'}-{seed}"), settings
    )
    if options.fresh:
        kept.forget()
        forget(kept)
    with refused(HuntDiffersError):
        kept.restore(hunt)
    began = hunt.corpus.tries
    clock = time.monotonic()
    further: Ended | None = None
    new: list[Path] = []
    for _ in range(MOST_HUNTS):
        ended = _search(hunt, kept, options, limits)
        caught = [(one, kept.results.path(one.file)) for one in kept.catches]
        new = keep_catches(options.corpus, caught, variant, contract, _command(options))
        if options.in_words:
            _tell(hunt, kept, options, new, hunt.corpus.tries - began, time.monotonic() - clock)
        if not (ended and kept.catches and options.confirm.wants_script):
            break
        hopeless = len(kept.of_no_use)
        wanted = Confirming(variant, contract, brokers, options.confirm.times, _again(options))
        further = carry_on(kept, wanted)
        if options.in_words:
            tell(further, output())
        if further.kept is not None or not limits.until_found or limits.tries or len(kept.of_no_use) == hopeless:
            break
    if further is not None and further.kept is None and not further.interrupted:
        further = make_do(kept, wanted) or further
        if options.in_words and further.kept is not None:
            tell(further, output())
    if not options.in_words:
        _tell(hunt, kept, options, new, hunt.corpus.tries - began, time.monotonic() - clock, further)
    if not ended or (further is not None and further.interrupted):
        return INTERRUPTED
    if brokers is not None and kept.catches:
        confirmation = further.confirmation if further is not None else None
        return ANOMALY if confirmation is not None and confirmation.seen else UNKNOWN
    return ANOMALY if kept.catches or kept.known else VALID


def _again(options: HuntOptions) -> str:
    """The command, as far as it is not the default."""
    words = ["tidemark hunt", variant_options(options.variant)]
    words += [f"--for {name}" for name in options.names]
    words += [f"--profile {options.profile}"] if options.profile else []
    words += [f"--seed {options.seed}"] if options.seed != 1 else []
    words += options.workload.asked().options()
    words += [f"--confirm {quote(options.confirm.confirm)}"] if options.confirm.confirm else ["--script"]
    return " ".join(words)


def _refuse_unknown(names: tuple[str, ...]) -> None:
    from tidemark.checkers.known_anomalies import NEAR_MISSES, OF_RUNS

    known = (*OF_RUNS, *NEAR_MISSES)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise click.UsageError(f"there is no anomaly {unknown[0]!r} to hunt for; there are {', '.join(known)}")


def _search(hunt: Hunt, kept: KeptHunt, options: HuntOptions, limits: Limits) -> bool:
    """Search until it is enough; false if the person stopped it. What was found until then is kept."""
    status = output(stderr=True)
    try:
        with _Shown(status, endless=limits.until_found and not limits.seconds) as shown:
            for progress in _rounds(hunt, options, limits, kept):
                caught = [catch for found in progress.found if (catch := kept.take(found)) is not None]
                for one in progress.known:
                    kept.count_known(one)
                shown.update(progress, kept.caught.total())
                for catch in caught:
                    if not shown.told(f"{catch.name}: {catch.cause}"):
                        status.print(
                            f"caught after {catch.number} tries: [bold]{catch.name}[/], {catch.faults} faults"
                            + (f", made of a near miss: {catch.made_of}" if catch.made_of else ""),
                            soft_wrap=True,
                        )
                shown.save_now_and_then(lambda: kept.save(hunt))
                if progress.found and limits.until_found:
                    break
    except KeyboardInterrupt:
        return False
    finally:
        kept.save(hunt)
    return True


def _rounds(hunt: Hunt, options: HuntOptions, limits: Limits, kept: KeptHunt) -> Iterator[Progress]:
    """Rounds until time or tries are over."""
    if (limits.until_found and len(kept.catches) > len(kept.of_no_use)) or (
        limits.tries and limits.tries <= hunt.corpus.tries
    ):
        return
    until = time.monotonic() + (limits.seconds or float("inf"))
    with spread_over(options.jobs, options.master) as spread:
        for progress in hunt.rounds(spread):
            yield progress
            if time.monotonic() >= until or (limits.tries and progress.tries >= limits.tries):
                return


def _command(options: HuntOptions) -> str:
    names = "".join(f" --for {name}" for name in options.names)
    profile = f" --profile {options.profile}" if options.profile else ""
    how = f"{variant_options(options.variant)}{names}{profile} --seed {options.seed}"
    size = "" if options.plans_a_round == 32 else f" --round {options.plans_a_round}"
    return " ".join([f"tidemark hunt {how}{size}", *options.workload.asked().options()])


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
    options: HuntOptions,
    new: list[Path],
    tries: int,
    seconds: float,
    further: Ended | None = None,
) -> None:
    from tidemark.checkers.marks import by_mark
    from tidemark.harness.search.hunt.reach import never_reached

    variant = options.variant
    family = family_of(parse_variant(variant))
    never = never_reached(hunt.corpus.seen, hunt.corpus.struck, hunt.kinds(), family)
    known = sorted(kept.known.items(), key=lambda one: (-one[1][1], one[0]))
    catches = sorted(kept.catches, key=lambda one: (one.name, one.faults, one.number))
    if options.as_json:
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
            "known": [
                {"title": title, "tries": times, "plan": str(kept.results.path(one.file))}
                for title, (one, times) in known
            ],
            "exercised": by_mark(hunt.corpus.seen, family.marks),
            "never_reached": never._asdict(),
            "profiles": {name: tries for name, (tries, *_) in hunt.arms.to_json().items()},
            **({} if further is None else {"confirmed": further.to_json()}),
        }
        click.echo(json.dumps(told))
        return
    if options.table_format != TEXT:
        print_table(_table(kept), options.table_format)
        return
    console = output()
    rate = f", {tries / seconds:.0f} a second" if tries and seconds else ""
    console.print(
        f"[bold]{variant}[/]: {hunt.corpus.tries:,} plans tried{rate}; {kept.caught.total():,} of them caught something"
        + (" new" if known else "")
    )
    near = [name for name in hunt.corpus.seen if name.startswith("near:") and "(" not in name]
    if near:
        misses = ", ".join(f"{name.removeprefix('near:')} {hunt.corpus.seen[name]:,}" for name in sorted(near))
        console.print(f"  near misses, in runs: {misses}", soft_wrap=True)
    if never.marks:
        console.print(f"  never reached: {', '.join(never.marks)}", soft_wrap=True, highlight=False)
    if never.kinds:
        console.print(f"  faults that never struck: {', '.join(never.kinds)}", soft_wrap=True, highlight=False)
    for (name, cause), times in sorted(kept.caught.items(), key=lambda one: (-one[1], one[0])):
        smallest = _smallest(kept, name, cause)
        often = "once" if times == 1 else f"{times:,} times"
        console.print(f"[red]✗[/] [bold]{name}[/], {often}, because {escape(cause)}", soft_wrap=True)
        made_of = f", made of a near miss, {smallest.made_of}" if smallest.made_of else ""
        console.print(
            f"  with {smallest.faults} faults (try {smallest.number}{made_of}): {escape(smallest.message)}",
            soft_wrap=True,
        )
        file = quote(str(kept.results.path(smallest.file)))
        for command in ("run", "shrink"):
            what = f" --anomaly {name}" if command == "shrink" and options.names else ""
            console.print(
                f"  tidemark {command} {variant_options(variant)} --plan {file}{what}", soft_wrap=True, highlight=False
            )
    for title, (one, times) in known:
        often = "once" if times == 1 else f"{times:,} times"
        console.print(f"  known, {often}: {escape(title)} ({one.name})", soft_wrap=True, highlight=False)
        console.print(
            f"    tidemark run {variant_options(variant)} --plan {quote(str(kept.results.path(one.file)))}",
            soft_wrap=True,
            highlight=False,
        )
    if new:
        plans = "one plan is" if len(new) == 1 else f"{len(new)} plans are"
        console.print(f"  {plans} kept in {options.corpus}, for tidemark run --corpus", soft_wrap=True, highlight=False)
    if not catches:
        what = "nothing new was caught" if known else "nothing was caught"
        console.print(f"  {what}: no proof that there is nothing", highlight=False)


def _smallest(kept: KeptHunt, name: str, cause: str) -> Catch:
    """Of the plans that were caught with an anomaly of this cause."""
    same = (one for one in kept.catches if (one.name, one.cause) == (name, cause))
    return min(same, key=lambda one: (one.faults, one.number))


def _table(kept: KeptHunt) -> ResultTable:
    """A line for each anomaly and cause, what is known behind what is new, with the smallest plan that shows it."""
    from tidemark.harness.report.result_table import ResultTable

    new = [(_smallest(kept, *what), "no", tries) for what, tries in kept.caught.items()]
    found = [*new, *((one, "yes", tries) for one, tries in kept.known.values())]
    found.sort(key=lambda one: (one[1], -one[2], one[0]))
    rows = [
        (one.name, one.cause, known, tries, one.faults, str(kept.results.path(one.file))) for one, known, tries in found
    ]
    return ResultTable(("anomaly", "cause", "known", "tries>", "faults>", "plan"), rows)
