"""``tidemark report``: summary and page of a campaign, of a stored run, or of anybody's history."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tidemark.checkers import HistoryFormatError, check
from tidemark.checkers.history.line_shapes import refuse_what_is_no_log
from tidemark.checkers.own_checkers import and_checked_by
from tidemark.cli.campaign_place import CampaignPlace, StoreAddress, at_hand, keep_pages, place_of
from tidemark.cli.campaign_report import summarise_all
from tidemark.cli.check import STANDARD_INPUT, read
from tidemark.cli.check_campaign import MANIFEST, is_campaign
from tidemark.cli.extras import need
from tidemark.cli.model import ModelOptions, model_option, refuse_with_model
from tidemark.cli.options import RealRange, contract_option, json_option
from tidemark.cli.own_checkers import checker_option, load_checkers
from tidemark.cli.refused import refused
from tidemark.cli.sweep import is_sweep, tell_again
from tidemark.cli.typed_options import Options, argument, flag, group, option, shared, taking
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
  tidemark report history.jsonl --figures                    and each figure as PNG and PDF, for a paper
  tidemark report history.jsonl --checker mine.py            and what a checker of one's own found
  zcat history.jsonl.gz | tidemark report - --out page.html
"""

Window = tuple[float | None, float | None]


class ReportOptions(Options):
    """What ``tidemark report`` can be asked."""

    path: Path | StoreAddress = argument(type=CampaignPlace(path_type=Path))
    baseline: str | None = option(
        "Of a campaign: variant the others are compared with.  [default: the first]", type=str
    )
    out: Path | None = option(
        "The page, or a new folder for it; figures and timeline go beside it.  [default: NAME-report.html beside the file]",
        type=click.Path(path_type=Path),
    )
    begin: float | None = option("The timeline begins here, seconds.", "--from", type=RealRange())
    end: float | None = option("The timeline ends here, seconds.", "--to", type=RealRange())
    contract: str | None = shared(contract_option)
    model: str | None = shared(model_option)
    of_model: ModelOptions = group(ModelOptions)
    checkers: tuple[str, ...] = shared(checker_option)
    figures: bool = flag("Save the figures of a run or history as PNG and PDF, too (for a paper or slides).")
    force: bool = flag("Write over files, and into folders, that are not Tidemark's.")
    as_json: bool = shared(json_option)

    @property
    def window(self) -> Window:
        """What the timeline shows."""
        return self.begin, self.end

    @property
    def judge_again(self) -> bool:
        """Whether something else judges than what is stored says."""
        return bool(self.contract or self.model or self.checkers)


@click.command("report", epilog=EPILOG)
@taking(ReportOptions)
def report_command(options: ReportOptions) -> int:
    """Write a page about PATH: a campaign's or a run's folder, or anybody's history in a file, as `tidemark check` reads it.

    Of a sweep's folder (`tidemark compare --sweep`) the table of its cells is printed, and written with its figure.

    The page of a history has what was found, the records' stories as far as they are known, latency, rates, availability and
    recovery over time, and beside it lies a timeline, operation by operation.
    """
    begin, end = options.window
    if begin is not None and end is not None and begin > end:
        raise click.UsageError(f"--from {begin:g} is later than --to {end:g}")
    refuse_with_model(options.model, options.contract, options.checkers)
    options.of_model.asked(options.model)
    path = at_hand(options.path)
    if is_campaign(path):
        if options.out or options.judge_again or options.window != (None, None):
            raise click.UsageError(
                "a campaign's page is report.html in its folder; of these options only --baseline is for it"
            )
        need(campaign=True, report=True)
        if is_sweep(path):
            tell_again(path, options.baseline, as_json=options.as_json)
            return 0
        summarise_all(path, options.baseline, as_json=options.as_json)
        if isinstance(options.path, StoreAddress):
            keep_pages(place_of(options.path), path)
        return 0
    if path != STANDARD_INPUT and not path.exists():
        raise click.ClickException(f"{path}: there is no such file or folder")
    if path.is_dir() and not (path / HISTORY).is_file():
        raise click.ClickException(f"{path} holds neither a campaign ({MANIFEST}) nor a run ({HISTORY})")
    need(report=True)
    if options.baseline is not None:
        raise click.UsageError("--baseline is for campaigns")
    place = _place(path, options.out)
    source = path / HISTORY if path.is_dir() else path
    if place.exists() and source.exists() and place.samefile(source):
        raise click.UsageError(f"{place} is the history itself: choose another place with --out")
    try:
        _report(path, place, options)
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


def _report(path: Path, place: Path, options: ReportOptions) -> None:
    from tidemark.harness.report.own_files import SomebodysFileError, refuse_to_litter, refuse_to_overwrite
    from tidemark.harness.report.timeline import NothingThereError

    instead = "; choose another place with --out, or write over it with --force"
    folder = options.out is not None and place.parent == options.out and options.out != path
    if folder and not options.force:
        with refused(
            SomebodysFileError, then="; name a new folder, or a page in it (NAME.html), or fill it with --force"
        ):
            refuse_to_litter(place)
    with refused(SomebodysFileError, then=instead), refused(NothingThereError, of=path):
        if not options.force:
            refuse_to_overwrite(place)
        if path.is_dir() and (path / PLAN).is_file() and not options.judge_again:
            told = _report_run(path, place, options)
        else:
            told = _report_history(path, place, options)
    click.echo(json.dumps(told) if options.as_json else str(place))


def _report_run(folder: Path, place: Path, options: ReportOptions) -> dict[str, Any]:
    with refused(HistoryFormatError, PlanError, OSError, of=folder):
        history = load_history(folder)
        plan = read_plan(folder / PLAN)
    from tidemark.harness.report.pages import write_run_page
    from tidemark.harness.why import why_of_stored

    verdict = check(history)
    why = why_of_stored(plan, history, verdict)
    page = write_run_page(
        plan.to_json(), history, verdict, place, str(folder), options.window, why, for_paper=options.figures
    )
    return _told(page.page, page.timeline, verdict, page.plots.to_json())


def _report_history(path: Path, place: Path, options: ReportOptions) -> dict[str, Any]:
    own = load_checkers(options.checkers)
    contract, model = options.contract, options.model
    history = read(path, rows=model is not None or bool(own))
    judged = _judged(path, history, options, own)
    from tidemark.harness.report.history_page import write_history_page  # not before it is needed: it loads matplotlib

    typed = f" --contract {contract}" if contract else f" --model {model}" if model else ""
    typed += options.of_model.words
    typed += "".join(f" --checker {shlex.quote(one)}" for one in options.checkers)
    page = write_history_page(
        history, judged, place, str(path), options=typed, window=options.window, for_paper=options.figures
    )
    return _told(page.page, page.timeline, judged, page.plots.to_json())


def _judged(path: Path, history: History, options: ReportOptions, own: Mapping[str, Checker]) -> Verdict | Result:
    with refused(ValueError, of=path):
        if options.model is None:
            if own:
                refuse_what_is_no_log(history.ops)
            verdict = check(history, options.contract)
            return and_checked_by(verdict, history, own) if own else verdict
        from tidemark.checkers.objects.workloads import judge

        return judge(history, options.model, asked=options.of_model.asked(options.model))


def _told(page: Path, timeline: Path | None, judged: Verdict | Result, over_time: dict[str, Any]) -> dict[str, Any]:
    """What --json prints."""
    return {
        "page": str(page),
        "timeline": str(timeline) if timeline else None,
        "verdict": judged.to_json(),
        "over_time": over_time,
    }
