"""``tidemark check`` of a campaign: its stored histories once more, by the checkers of today."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tidemark.cli.exits import INTERRUPTED, exit_code
from tidemark.cli.extras import need
from tidemark.cli.for_ci import FAILED, PASSED, SKIPPED, Case, CiOptions
from tidemark.cli.options import SparkMaster, VariantList
from tidemark.cli.output import output
from tidemark.cli.refused import refused
from tidemark.cli.typed_options import Options, flag, option
from tidemark.cli.writing_to import writing_to
from tidemark.harness.runs.folder import HISTORY

if TYPE_CHECKING:
    from tidemark.checkers.own_checkers import Checker
    from tidemark.pipeline.recheck.recheck import ChangedRun, Question, RecheckOutcome

MANIFEST = "manifest.json"
SHOWN = 50


def is_campaign(path: Path) -> bool:
    """Whether it is a campaign's folder, and no run's."""
    return (path / MANIFEST).is_file() and not (path / HISTORY).is_file()


class CampaignCheckOptions(Options):
    """--again, --variants, --limit, --fresh, --master."""

    again: bool = flag("Of a campaign: make the histories that are not stored again, from plan and seed.")
    variants: tuple[str, ...] | None = option("Of a campaign: only these.  [default: all]", type=VariantList())
    limit: int | None = option(
        "Of a campaign: list so many changed runs at most; 0: all.  [default: 50]", type=click.IntRange(min=0)
    )
    fresh: bool = flag("Of a campaign: judge again what these checkers have judged already.")
    master: str | None = option(
        "Of a campaign: Spark master.  [default: local[*], for more than a little]", type=SparkMaster()
    )


def check_campaign(
    path: Path,
    contract: str | None,
    checkers: Mapping[str, Checker],
    options: CampaignCheckOptions,
    ci: CiOptions,
    *,
    as_json: bool,
) -> int:
    """Judge the campaign's stored histories again, of all its parts, and tell what changed; `checkers` judge beside ours.

    Raises:
        click.ClickException: it cannot be done.
    """
    need(campaign=True)
    from tidemark.pipeline.folder.campaign_parts import several_parts
    from tidemark.pipeline.recheck.recheck import Question

    with refused():
        parts = several_parts(path)
    wanted = set(options.variants or ())
    if not wanted <= {name for part in parts for name in part.spec.variants}:
        parts = []  # and the campaign says that it has none of that name
    outcomes: list[RecheckOutcome] = []
    for part in parts:
        variants = tuple(name for name in part.spec.variants if name in wanted)
        if variants or not wanted:
            question = Question(contract, checkers, options.again, variants)
            outcomes.append(_judge(part.folder, question, options))
            if outcomes[-1].interrupted:
                break
    if not outcomes:
        question = Question(contract, checkers, options.again, options.variants or ())
        outcomes.append(_judge(path, question, options))
    limit = SHOWN if options.limit is None else options.limit
    titles = {part.folder: part.title for part in parts}
    ci.tell(case for outcome in outcomes for case in _cases(outcome))
    for outcome in outcomes:
        _show(outcome, limit, titles.get(outcome.folder), as_json=as_json)
    if outcomes[-1].interrupted:
        status = output(stderr=True)
        status.print("Stopped; what was judged is kept. Give the same command again to go on.", highlight=False)
        return INTERRUPTED
    return exit_code(verdict for outcome in outcomes for verdict in outcome.verdicts)


def _judge(path: Path, question: Question, options: CampaignCheckOptions) -> RecheckOutcome:
    """Judge what is stored in one folder.

    Raises:
        click.ClickException: it cannot be done.
    """
    from tidemark.pipeline.recheck.recheck import recheck_campaign

    with refused(), writing_to(path):
        return recheck_campaign(path, question, master=options.master, fresh=options.fresh, console=output(stderr=True))


def _show(outcome: RecheckOutcome, limit: int, title: str | None, *, as_json: bool) -> None:
    """Print one outcome; `title` is that of a part."""
    from tidemark.pipeline.recheck.recheck import changed_runs

    changed = islice(changed_runs(outcome), limit or None)
    if as_json:
        click.echo(json.dumps(_to_json(outcome, changed)))
        return
    if title is not None:
        click.secho(f"Part {title}, in {outcome.folder}", bold=True)
    _print(outcome, changed, limit)


def _to_json(outcome: RecheckOutcome, changed: Any) -> dict[str, Any]:  # noqa: ANN401 - an iterator of pipeline's, loaded late
    return {
        "campaign": str(outcome.folder),
        "verdicts": str(outcome.place),
        "code": outcome.code,
        "interrupted": outcome.interrupted,
        "damaged": list(outcome.damaged),
        "variants": [
            {
                "variant": one.variant,
                "judged": one.judged,
                "valid": one.valid,
                "invalid": one.invalid,
                "unknown": one.unknown,
                "invalid_then": one.was,
                "changed": one.changed,
                "not_stored": one.missing,
                "not_the_same_again": one.other,
                "changes": one.kinds,
            }
            for one in outcome.variants
        ],
        "changed": [run.to_json() for run in changed],
    }


def _print(outcome: RecheckOutcome, changed: Any, limit: int) -> None:  # noqa: ANN401 - as above
    console = output(highlight=False, soft_wrap=True)
    judged, missing, other = (outcome.total(name) for name in ("judged", "missing", "other"))
    console.print(f"{judged} of {judged + missing + other} runs were judged again (checkers {outcome.code[:12]}).")
    if outcome.already:
        console.print("These checkers have judged all of it before; --fresh judges it again.")
    if missing:
        console.print(
            f"Of {missing} no history is stored, or the run raised: --again makes those of the simulator again, and compare "
            "--keep all would have stored them."
        )
    if other:
        console.print(f"{other} could not be had again: the code that runs them is another, or depends on more.")
    for words in outcome.damaged:
        console.print(
            f"{words}: damaged, was not judged; the command that ran the campaign does it again.", markup=False
        )
    if judged:
        _print_table(outcome, console)
    for run in changed:
        _print_run(run, console)
    total = outcome.total("changed")
    if judged and not total:
        console.print("No verdict changed.")
    elif limit and total > limit:
        console.print(f"… and {total - limit} more: --limit 0 prints all.")
    console.print(f"The verdicts are in {outcome.place}.", markup=False)


def _print_table(outcome: RecheckOutcome, console: Console) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("")
    for column in ("judged", "invalid then", "invalid now", "unknown now", "changed"):
        table.add_column(column, justify="right")
    for one in outcome.variants:
        numbers = (one.judged, one.was, one.invalid, one.unknown, one.changed)
        table.add_row(escape(one.variant), *map(str, numbers))
    console.print(table)
    for one in outcome.variants:
        for name, found in one.kinds.items():
            for words, runs in sorted(found.items(), key=lambda item: -item[1]):
                console.print(f"{one.variant}, {name or 'verdict'}: {words} in {runs} runs", markup=False)


def _print_run(run: ChangedRun, console: Console) -> None:
    verdict = run.now if run.then == run.now else f"{run.then} → {run.now}"
    console.print(f"[bold]{escape(run.variant)}, plan {run.plan}[/]: {verdict}")
    for name, then, now in run.anomalies:
        console.print(f"  {name}: {then} → {now}", markup=False)
    console.print(f"  {run.command}", markup=False)


def _cases(outcome: RecheckOutcome) -> list[Case]:
    """Each variant as a case: it failed if any of its runs is invalid now, and is skipped if nothing could be judged."""
    found = []
    for one in outcome.variants:
        words = f"{one.invalid} of {one.judged} runs are invalid, {one.unknown} unknown, {one.changed} changed"
        kind = FAILED if one.invalid else PASSED if one.judged > one.unknown else SKIPPED
        found.append(
            Case(f"tidemark check {outcome.folder}", one.variant, kind, "" if kind == PASSED else words, [words])
        )
    return found
