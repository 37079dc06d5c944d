"""``tidemark report``: summary and page of a campaign, of a stored run, or of anybody's history."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tidemark.checkers import HistoryFormatError, check
from tidemark.checkers.own_checkers import and_checked_by
from tidemark.cli.campaign_place import CampaignPlace, StoreAddress, at_hand, keep_pages, place_of
from tidemark.cli.campaign_report import summarise_all
from tidemark.cli.check import STANDARD_INPUT, read
from tidemark.cli.extras import need
from tidemark.cli.model import model_option
from tidemark.cli.options import RealRange, contract_option, json_option
from tidemark.cli.own_checkers import checker_option, load_checkers
from tidemark.harness.runs.folder import HISTORY, PLAN, REPORT, load_history
from tidemark.nemesis import PlanError, read_plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.checkers import History, Verdict
    from tidemark.checkers.own_checkers import Checker
    from tidemark.checkers.verdict.result import Result

EPILOG = """\b
Examples:
  tidemark report results/demo                       a campaign: table on the terminal, report.html in the folder
  tidemark report results/runs/kafka-0.10-1-30       one run: report.html in its folder, with a timeline beside it
  tidemark report history.jsonl                      anybody's history: history-report.html beside it
  tidemark report store/latest/history.edn --out pages/monday.html
  tidemark report history.jsonl.gz --from 12 --to 15.5       what the timeline shows, in seconds
  tidemark report history.edn --model cas-register           what is no log
  tidemark report history.jsonl --checker mine.py            and what a checker of one's own found
  zcat history.jsonl.gz | tidemark report - --out page.html
"""

MANIFEST = "manifest.json"
Window = tuple[float | None, float | None]


@click.command("report", epilog=EPILOG)
@click.argument("path", type=CampaignPlace(path_type=Path))
@click.option("--baseline", type=str, help="Of a campaign: variant the others are compared with.  [default: the first]")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The page, or a folder for it; figures and timeline go beside it.  [default: NAME-report.html beside the file]",
)
@click.option("--from", "begin", type=RealRange(), help="The timeline begins here, seconds.")
@click.option("--to", "end", type=RealRange(), help="The timeline ends here, seconds.")
@contract_option
@model_option
@checker_option
@click.option("--force", is_flag=True, help="Write over files that Tidemark did not write.")
@json_option
def report_command(
    path: Path | StoreAddress,
    baseline: str | None,
    out: Path | None,
    begin: float | None,
    end: float | None,
    contract: str | None,
    model: str | None,
    checkers: tuple[str, ...],
    *,
    force: bool,
    as_json: bool,
) -> int:
    """Write a page about PATH: a campaign's or a run's folder, or anybody's history in a file, as `tidemark check` reads it.

    The page of a history has what was found, the records' stories as far as they are known, latency, rates, availability and
    recovery over time, and beside it lies a timeline, operation by operation.
    """
    if begin is not None and end is not None and begin > end:
        raise click.UsageError(f"--from {begin:g} is later than --to {end:g}")
    if contract is not None and model is not None:
        raise click.UsageError("a model makes no promise: --model or --contract, not both")
    if checkers and model is not None:
        raise click.UsageError("a checker judges beside ours, and a model instead of them: --model or --checker")
    store = path if isinstance(path, StoreAddress) else None
    path = at_hand(path)
    if (path / MANIFEST).is_file() and not (path / HISTORY).is_file():
        if out or contract or model or checkers or (begin, end) != (None, None):
            raise click.UsageError(
                "a campaign's page is report.html in its folder; of these options only --baseline is for it"
            )
        need(campaign=True, report=True)
        summarise_all(path, baseline, as_json)
        if store is not None:
            keep_pages(place_of(store), path)
        return 0
    if path != STANDARD_INPUT and not path.exists():
        raise click.ClickException(f"{path}: there is no such file or folder")
    if path.is_dir() and not (path / HISTORY).is_file():
        raise click.ClickException(f"{path} holds neither a campaign ({MANIFEST}) nor a run ({HISTORY})")
    need(report=True)
    if baseline is not None:
        raise click.UsageError("--baseline is for campaigns")
    place = _place(path, out)
    try:
        _report(path, place, (begin, end), contract, model, checkers, force=force, as_json=as_json)
    except OSError as error:
        where = error.filename or place.parent
        raise click.ClickException(f"cannot write {where}: {error.strerror}; choose another place with --out") from None
    return 0


def _place(path: Path, out: Path | None) -> Path:
    """Where the page goes."""
    if out is not None:
        return out if out.suffix == ".html" and not out.is_dir() else out / REPORT
    if path.is_dir():
        return path / REPORT
    if path == STANDARD_INPUT:
        return Path("history-report.html")
    name = path.name.removesuffix(".gz")
    return path.with_name(f"{Path(name).stem if Path(name).suffix else name}-report.html")


def _report(
    path: Path,
    place: Path,
    window: Window,
    contract: str | None,
    model: str | None,
    checkers: tuple[str, ...],
    *,
    force: bool,
    as_json: bool,
) -> None:
    from tidemark.harness.report.own_files import SomebodysFileError, refuse_to_overwrite
    from tidemark.harness.report.timeline import NothingThereError

    try:
        if not force:
            refuse_to_overwrite(place)
        if path.is_dir() and (path / PLAN).is_file() and contract is None and model is None and not checkers:
            told = _report_run(path, place, window)
        else:
            told = _report_history(path, place, window, contract, model, checkers)
    except SomebodysFileError as error:
        raise click.ClickException(f"{error}; choose another place with --out, or write over it with --force") from None
    except NothingThereError as error:
        raise click.ClickException(f"{path}: {error}") from None
    click.echo(json.dumps(told) if as_json else str(place))


def _report_run(folder: Path, place: Path, window: Window) -> dict[str, Any]:
    try:
        history = load_history(folder)
        plan = read_plan(folder / PLAN)
    except (HistoryFormatError, PlanError, OSError) as error:
        raise click.ClickException(f"{folder}: {error}") from None
    from tidemark.harness.report.pages import write_run_page
    from tidemark.harness.why import why_of_stored

    verdict = check(history)
    why = why_of_stored(plan, history, verdict)
    page = write_run_page(plan.to_json(), history, verdict, place, str(folder), window, why)
    return _told(page.page, page.timeline, verdict, page.plots.to_json())


def _report_history(
    path: Path, place: Path, window: Window, contract: str | None, model: str | None, checkers: tuple[str, ...]
) -> dict[str, Any]:
    own = load_checkers(checkers)
    history = read(path, rows=model is not None or bool(own))
    judged = _judged(path, history, contract, model, own)
    from tidemark.harness.report.history_page import write_history_page  # not before it is needed: it loads matplotlib

    options = f" --contract {contract}" if contract else f" --model {model}" if model else ""
    options += "".join(f" --checker {shlex.quote(one)}" for one in checkers)
    page = write_history_page(history, judged, place, str(path), options=options, window=window)
    return _told(page.page, page.timeline, judged, page.plots.to_json())


def _judged(
    path: Path, history: History, contract: str | None, model: str | None, own: Mapping[str, Checker]
) -> Verdict | Result:
    try:
        if model is None:
            verdict = check(history, contract)
            return and_checked_by(verdict, history, own) if own else verdict
        from tidemark.checkers.objects.workloads import judge

        return judge(history, model)
    except ValueError as error:
        raise click.ClickException(f"{path}: {error}") from None


def _told(page: Path, timeline: Path | None, judged: Verdict | Result, over_time: dict[str, Any]) -> dict[str, Any]:
    """What --json prints."""
    return {
        "page": str(page),
        "timeline": str(timeline) if timeline else None,
        "verdict": judged.to_json(),
        "over_time": over_time,
    }
