"""``tidemark explore``: every order of messages, elections and faults within bounds."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tidemark.cli.exits import ANOMALY, UNKNOWN, VALID
from tidemark.cli.options import NEW_FILE, POSITIVE, KafkaVariantName, RealRange, json_option, words_in
from tidemark.cli.output import output
from tidemark.cli.own_rules import rule_option
from tidemark.cli.refused import refused
from tidemark.cli.spread import master_option, spread_over
from tidemark.cli.typed_options import Options, flag, group, option, shared, taking
from tidemark.harness.search.explore.bounds import Bounds, BoundsError
from tidemark.nodes.core.variant import parse_variant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tidemark.harness.search.explore.search import Found, Limits
    from tidemark.harness.search.explore.truth_table import TruthCell, TruthRow

EPILOG = """\b
Examples:
  tidemark explore                                              kafka-2.1, three brokers, two records, three epochs
  tidemark explore --variant kafka-3.7 --records 1              comes to the missed reign by itself
  tidemark explore --variant kafka-3.7 --records 1 --invariant StrongIsr --script missed.scenario
  tidemark explore --variant kafka-3.7+forget-log-ends --records 1
  tidemark explore --rule mine.py --variant kafka-3.7+truncation=mine --pass-over known     what is your rule's own
  tidemark explore --variant kafka-2.0+truncation=kip101 --brokers 2 --invariant LogMatchingHw
  tidemark explore --variant kafka-2.1 --brokers 2 --crashes 1 --lapses 1 --leadership late
  tidemark explore --variant kafka-2.0 --invariant StrongIsr --invariant LogMatchingHw --json
  tidemark explore --walks 2000 --epochs 6 --records 6           beyond what can be exhausted: walks with priorities
  tidemark explore --variant kafka-2.7+forget-log-ends --records 3 --jobs 8
  tidemark explore --truth-table                                which rule keeps which invariant
  tidemark explore --truth-table --master spark://host:7077     each cell a Spark task

\b
Exit codes: 0 holds within the bounds, 1 a counterexample, 2 given up before the end, 254 bad arguments."""


class BoundsOptions(Options):
    """Within which everything is explored."""

    brokers: int = option("Brokers, all of them replicas.", type=int, default=3)
    records: int = option("Records, one in a batch.", type=int, default=2)
    epochs: int = option("Leader epochs.", type=int, default=3)
    crashes: int = option("Process crashes, with restarts.", type=int, default=0)
    lapses: int = option("Sessions that end while the process goes on.", type=int, default=0)
    unclean: bool = flag("Any live broker may be elected.")
    leadership: str = option(
        "When brokers hear what the controller decided: at once; late and in order; late, or only of what came later.",
        type=click.Choice(["at-once", "late", "lost"]),
        default="lost",
    )
    late_answers: bool = flag("A leader may hear later that its ISR was taken.")
    min_isr: int = option("min.insync.replicas.", type=int, default=1)
    fetch_size: int = option("Batches in one fetch.", type=int, default=1)


class ExploreOptions(Options):
    """What ``tidemark explore`` can be asked."""

    variant: str = option("The protocol.", type=KafkaVariantName(), default="kafka-2.1")
    bounds: BoundsOptions = group(BoundsOptions)
    invariants: tuple[str, ...] = option(
        "What must hold; repeat for more. [default: most]", "--invariant", multiple=True, metavar="NAME"
    )
    pass_over: str = option(
        "Known bugs that are passed over: the variant is explored with their repairs (keys of tidemark zoo; `known` is all that a "
        "search comes to).",
        metavar="KEY,KEY,…",
        default="",
        show_default=False,
    )
    max_states: int = option("Give up at the end of the level with more.", type=POSITIVE, default=20_000_000)
    seconds: float = option("Give up after so long.", type=RealRange(min=0), default=float("inf"), show_default=False)
    walks: int | None = option("So many random walks with priorities (PCT), and no exhaustive search.", type=POSITIVE)
    depth: int = option("Moves in a walk.", type=POSITIVE, default=60)
    seed: int = option("Of the walks.", type=int, default=0)
    script: Path | None = option(
        "Write the counterexample as a script for `tidemark scenario FILE`, played beforehand.", type=NEW_FILE
    )
    truth_table: bool = flag("Explore every cell of the table of rules and invariants.")
    cells: tuple[str, ...] = option("Only cells whose name has these words.", "--cell", multiple=True, metavar="WORDS")
    jobs: int | None = option(
        "Processes that share the states of a search.  [default: one for each core]  With --truth-table: cells side by side.  "
        "[default: 1]",
        type=POSITIVE,
    )
    master: str | None = shared(master_option)
    as_json: bool = shared(json_option)


@click.command("explore", epilog=EPILOG)
@rule_option
@taking(ExploreOptions)
def explore_command(options: ExploreOptions) -> int:
    """Search every order of messages, elections and faults, without a clock, for a broken invariant.

    The first counterexample is a shortest one. Without one, everything within the bounds was seen.
    """
    from tidemark.harness.search.explore.invariants import DEFAULT, INVARIANTS
    from tidemark.harness.search.explore.priorities import walk
    from tidemark.harness.search.explore.processes import ProcessEndedError
    from tidemark.harness.search.explore.search import Limits, explore
    from tidemark.harness.zoo.entry import ZooError
    from tidemark.harness.zoo.passed_over import past

    unknown = [name for name in options.invariants if name not in INVARIANTS]
    if unknown:
        raise click.UsageError(f"there is no invariant {unknown[0]!r}; there are {', '.join(INVARIANTS)}")
    with refused(BoundsError, usage=True):
        bounds = Bounds(**{one.name: getattr(options.bounds, one.name) for one in fields(Bounds)})
    if options.script is not None and options.script.exists():
        raise click.UsageError(f"{options.script} is there already")
    limits = Limits(options.max_states, options.seconds)
    if options.truth_table or options.cells:
        if options.pass_over:
            raise click.UsageError("--pass-over is for a search: the rows of --truth-table say what they leave out")
        return _table(options.cells, limits, options.jobs, options.master, as_json=options.as_json)
    if options.master is not None:
        raise click.UsageError("--master is for --truth-table: a search is for the processes of one machine (--jobs)")
    if options.walks and options.jobs is not None:
        raise click.UsageError("--jobs is for what is exhausted: walks are one process")
    names = options.invariants or DEFAULT
    with refused(ZooError, usage=True):
        name, repairs = past(options.variant, words_in(options.pass_over))
    variant = parse_variant(name)
    with _progress() as progress, refused(ProcessEndedError, then=": give the command again with fewer --jobs"):
        if options.walks:
            found = walk(
                variant, bounds, names, walks=options.walks, depth=options.depth, seed=options.seed, progress=progress
            )
        else:
            found = explore(variant, bounds, names, limits, progress, jobs=options.jobs or os.cpu_count() or 1)
    _show(found, name, bounds.in_words(), names, repairs, as_json=options.as_json)
    if options.script is not None and found.outcome == "broken":
        _write_script(found, name, bounds, options.script)
    return {"holds": VALID, "broken": ANOMALY, "unfinished": UNKNOWN}[found.outcome]


@contextmanager
def _progress() -> Iterator[Callable[[int, int, float], None]]:
    """A line on standard error that says how far it is, where there is a terminal."""
    with output(stderr=True).status("Exploring") as status:

        def tell(states: int, depth: int, seconds: float) -> None:
            rate = f", {states / seconds:,.0f} a second" if seconds > 1 else ""
            status.update(f"Exploring: {states:,} states, depth {depth}{rate}")

        yield tell


def _show(
    found: Found, variant: str, bounds: str, names: tuple[str, ...], repairs: dict[str, str], *, as_json: bool
) -> None:
    from tidemark.harness.search.explore.words import summary, told

    if as_json:
        told_first = {"variant": variant, "passed_over": [*repairs], "bounds": bounds, "invariants": names}
        click.echo(json.dumps({**told_first, **_as_json(found)}, indent=1))
        return
    click.echo(f"{variant}: {', '.join(names)}")
    if repairs:
        click.echo(f"passed over: {', '.join(f'{key} (+{word})' for key, word in repairs.items())}")
    for line in told(found) if found.outcome == "broken" else []:
        click.echo(line)
    click.echo(summary(found, bounds))


def _write_script(found: Found, variant: str, bounds: Bounds, path: Path) -> None:
    """Also where there is no script, which is no failure of the search: then a sentence says why."""
    from tidemark.harness.search.explore.script import NoScriptError, as_script

    try:
        text, played = as_script(found, variant, bounds)
    except NoScriptError as error:
        click.echo(f"no script: {error}", err=True)
        return
    path.write_text(text, encoding="utf-8")
    seen = ", ".join(dict.fromkeys(anomaly.name for anomaly in played.verdict.anomalies)) or "nothing"
    click.echo(f"{path}: played in the simulator, which agrees step by step; the checkers find: {seen}", err=True)


def _as_json(found: Found) -> dict[str, Any]:
    from tidemark.harness.search.explore.words import told

    return {
        "outcome": found.outcome,
        "states": found.states,
        "moves": found.moves,
        "depth": found.depth,
        "seconds": round(found.seconds, 3),
        "cpu_seconds": round(found.cpu_seconds, 3),
        "worked_out": found.worked_out,
        "invariant": found.invariant,
        "why": found.why,
        "steps": told(found) if found.outcome == "broken" else [],
    }


def _table(words: tuple[str, ...], limits: Limits, jobs: int | None, master: str | None, *, as_json: bool) -> int:
    """Exit code 1 where a cell is not as it must be, else 2 where one was not finished."""
    from tidemark.harness.search.explore.truth_table import cells_with

    chosen = cells_with(words)
    if not chosen:
        raise click.UsageError(f"no cell's name has {' and '.join(repr(word) for word in words)}")
    rows = []
    for row in _rows(chosen, limits, jobs, master):
        rows.append(row)
        if not as_json:
            click.echo(row.in_words())
    if as_json:
        click.echo(json.dumps([row.to_json() for row in rows], indent=1))
    if any(row.differs for row in rows):
        return ANOMALY
    return UNKNOWN if any(row.outcome == "unfinished" for row in rows) else VALID


def _rows(cells: list[TruthCell], limits: Limits, jobs: int | None, master: str | None) -> Iterator[TruthRow]:
    """In the table's order. One process, unless more are asked for: a large cell takes hundreds of megabytes."""
    from tidemark.harness.search.explore.truth_table import run_cell

    if jobs in (None, 1) and master is None:
        for cell in cells:
            with _progress() as progress:
                yield run_cell(cell, limits, progress)
        return
    with spread_over(jobs, master, dear=True) as spread:
        yield from spread(partial(run_cell, limits=limits), cells)
