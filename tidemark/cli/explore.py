"""``tidemark explore``: every order of messages, elections and faults within bounds."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tidemark.cli.exits import ANOMALY, UNKNOWN, VALID
from tidemark.cli.options import KafkaVariantName, RealRange, json_option
from tidemark.cli.own_rules import rule_option
from tidemark.cli.spread import master_option, spread_over
from tidemark.nodes.core.variant import parse_variant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tidemark.harness.search.explore.bounds import Bounds
    from tidemark.harness.search.explore.search import Found, Limits
    from tidemark.harness.search.explore.truth_table import TruthCell, TruthRow

EPILOG = """\b
Examples:
  tidemark explore                                              kafka-2.1, three brokers, two records, three epochs
  tidemark explore --variant kafka-3.7 --records 1              comes to the missed reign by itself
  tidemark explore --variant kafka-3.7 --records 1 --invariant StrongIsr --script missed.scenario
  tidemark explore --variant kafka-3.7+forget-log-ends --records 1
  tidemark explore --variant kafka-2.0+truncation=kip101 --brokers 2 --invariant LogMatchingHw
  tidemark explore --variant kafka-2.1 --brokers 2 --crashes 1 --lapses 1 --leadership late
  tidemark explore --variant kafka-2.0 --invariant StrongIsr --invariant LogMatchingHw --json
  tidemark explore --walks 2000 --epochs 6 --records 6           beyond what can be exhausted: walks with priorities
  tidemark explore --truth-table                                which rule keeps which invariant
  tidemark explore --truth-table --master spark://host:7077     each cell a Spark task

\b
Exit codes: 0 holds within the bounds, 1 a counterexample, 2 given up before the end, 254 bad arguments."""


@click.command("explore", epilog=EPILOG)
@click.option("--variant", type=KafkaVariantName(), default="kafka-2.1", show_default=True, help="The protocol.")
@click.option("--brokers", type=int, default=3, show_default=True, help="Brokers, all of them replicas.")
@click.option("--records", type=int, default=2, show_default=True, help="Records, one in a batch.")
@click.option("--epochs", type=int, default=3, show_default=True, help="Leader epochs.")
@click.option("--crashes", type=int, default=0, show_default=True, help="Process crashes, with restarts.")
@click.option("--lapses", type=int, default=0, show_default=True, help="Sessions that end while the process goes on.")
@click.option("--unclean", is_flag=True, help="Any live broker may be elected.")
@click.option(
    "--leadership",
    type=click.Choice(["at-once", "late", "lost"]),
    default="lost",
    show_default=True,
    help="When brokers hear what the controller decided: at once; late and in order; late, or only of what came later.",
)
@click.option("--late-answers", is_flag=True, help="A leader may hear later that its ISR was taken.")
@click.option("--min-isr", type=int, default=1, show_default=True, help="min.insync.replicas.")
@click.option("--fetch-size", type=int, default=1, show_default=True, help="Batches in one fetch.")
@click.option(
    "--invariant", "invariants", multiple=True, metavar="NAME", help="What must hold; repeat for more. [default: most]"
)
@click.option(
    "--max-states", type=click.IntRange(min=1), default=20_000_000, show_default=True, help="Give up after so many."
)
@click.option("--seconds", type=RealRange(min=0), default=float("inf"), help="Give up after so long.")
@click.option(
    "--walks", type=click.IntRange(min=1), help="So many random walks with priorities (PCT), and no exhaustive search."
)
@click.option("--depth", type=click.IntRange(min=1), default=60, show_default=True, help="Moves in a walk.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the walks.")
@click.option(
    "--script",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the counterexample as a script for `tidemark scenario FILE`, played beforehand.",
)
@click.option("--truth-table", is_flag=True, help="Explore every cell of the table of rules and invariants.")
@click.option("--cell", "cells", multiple=True, metavar="WORDS", help="Only cells whose name has these words.")
@click.option("--jobs", type=click.IntRange(min=1), help="Processes for --truth-table.  [default: 1]")
@master_option
@json_option
@rule_option
def explore_command(
    variant: str,
    invariants: tuple[str, ...],
    max_states: int,
    seconds: float,
    as_json: bool,
    **options: Any,  # noqa: ANN401
) -> int:
    """Search every order of messages, elections and faults, without a clock, for a broken invariant.

    The first counterexample is a shortest one. Without one, everything within the bounds was seen.
    """
    from tidemark.harness.search.explore.bounds import Bounds, BoundsError
    from tidemark.harness.search.explore.invariants import DEFAULT, INVARIANTS
    from tidemark.harness.search.explore.priorities import walk
    from tidemark.harness.search.explore.search import Limits, explore

    walks, depth, seed = options.pop("walks"), options.pop("depth"), options.pop("seed")
    table, cells, script = options.pop("truth_table"), options.pop("cells"), options.pop("script")
    jobs, master = options.pop("jobs"), options.pop("master")
    unknown = [name for name in invariants if name not in INVARIANTS]
    if unknown:
        raise click.UsageError(f"there is no invariant {unknown[0]!r}; there are {', '.join(INVARIANTS)}")
    try:
        bounds = Bounds(**options)
    except BoundsError as error:
        raise click.UsageError(str(error)) from None
    if script is not None and script.exists():
        raise click.UsageError(f"{script} is there already")
    limits = Limits(max_states, seconds)
    if table or cells:
        return _table(cells, limits, jobs, master, as_json=as_json)
    if jobs is not None or master is not None:
        raise click.UsageError("--jobs and --master are for --truth-table: one search is one process")
    names = invariants or DEFAULT
    with _progress() as progress:
        if walks:
            found = walk(parse_variant(variant), bounds, names, walks=walks, depth=depth, seed=seed, progress=progress)
        else:
            found = explore(parse_variant(variant), bounds, names, limits, progress)
    _show(found, variant, bounds.in_words(), names, as_json=as_json)
    if script is not None and found.outcome == "broken":
        _write_script(found, variant, bounds, script)
    return {"holds": VALID, "broken": ANOMALY, "unfinished": UNKNOWN}[found.outcome]


class _progress:  # noqa: N801 - reads as a function
    """A line on standard error that says how far it is, where there is a terminal."""

    def __enter__(self) -> Callable[[int, int, float], None]:
        """Begin to show it."""
        from rich.console import Console

        self._status = Console(stderr=True).status("Exploring")
        self._status.start()
        return self._tell

    def __exit__(self, *_: object) -> None:
        """Take it away."""
        self._status.stop()

    def _tell(self, states: int, depth: int, seconds: float) -> None:
        rate = f", {states / seconds:,.0f} a second" if seconds > 1 else ""
        self._status.update(f"Exploring: {states:,} states, depth {depth}{rate}")


def _show(found: Found, variant: str, bounds: str, names: tuple[str, ...], *, as_json: bool) -> None:
    from tidemark.harness.search.explore.words import summary, told

    if as_json:
        click.echo(json.dumps({"variant": variant, "bounds": bounds, "invariants": names, **_as_json(found)}, indent=1))
        return
    click.echo(f"{variant}: {', '.join(names)}")
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
