"""``tidemark check``: judge a stored run, or anybody's history."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidemark.checkers import HistoryFormatError, check, read_stream
from tidemark.checkers.history.line_shapes import refuse_what_is_no_log
from tidemark.checkers.own_checkers import and_checked_by
from tidemark.cli.campaign_place import CampaignPlace, StoreAddress, at_hand
from tidemark.cli.check_campaign import CampaignCheckOptions, check_campaign, is_campaign
from tidemark.cli.exits import exit_code
from tidemark.cli.for_ci import CiOptions, case_of
from tidemark.cli.model import ModelOptions, check_by_model, model_option, refuse_with_model
from tidemark.cli.next_step import next_step
from tidemark.cli.options import POSITIVE, contract_option, json_option
from tidemark.cli.output import output
from tidemark.cli.own_checkers import checker_option, load_checkers
from tidemark.cli.refused import refused
from tidemark.cli.show import print_verdict
from tidemark.cli.spread import spread_over
from tidemark.cli.typed_options import Options, argument, group, option, shared, taking
from tidemark.harness.runs.folder import HISTORY, load_file, load_history, store_verdict_again

if TYPE_CHECKING:
    from tidemark.checkers import History

EPILOG = """\b
Examples:
  tidemark check results/runs/kafka-0.10-1-30                 a run's folder
  tidemark check history.jsonl --contract durable --json      a file, by another promise
  tidemark check store/latest/history.edn                     what Jepsen wrote
  zcat history.jsonl.gz | tidemark check -                    what comes in
  tidemark check history.jsonl --jobs 8                       a long one, read by eight processes
  tidemark check history.edn --model cas-register             is the register linearizable?
  tidemark check history.edn --model register --initial 0     it held 0 before the first write
  tidemark check history.edn --model list-append --consistency snapshot-isolation    transactions of keys
  tidemark check history.jsonl --checker mine.py              and by a checker of one's own
  tidemark check history.jsonl --junit report.xml --annotations    for a CI system
  tidemark check results/demo                                 all that a campaign stored: which verdicts are others today?
  tidemark check results/demo --again --variants kafka-2.7    and what it did not store
"""


STANDARD_INPUT = Path("-")


def read(path: Path, *, forms: bool = False, rows: bool = False, jobs: int = 1) -> History:
    """The history at a path, which may be a dash; `forms` keeps the operations of EDN as they are, `rows` all values. So many
    processes read a long file of JSON lines or EDN, and the history is the same.

    Raises:
        click.ClickException: there is none, or it is none.
    """
    try:
        if path == STANDARD_INPUT:
            return read_stream(sys.stdin.buffer, allow_torn_tail=True, forms=forms, rows=rows)
        if (forms or rows) and not path.is_dir():
            return load_file(path, forms=forms, rows=rows)
        return (_read_in_blocks(path, jobs) if jobs > 1 else None) or load_history(path)
    except HistoryFormatError as error:
        raise click.ClickException(f"{path}: {error}") from None
    except OSError as error:
        if path.is_dir() and not (path / HISTORY).exists():
            raise click.ClickException(f"{path} holds no run ({HISTORY})") from None
        raise click.ClickException(f"{path}: cannot be read ({error.strerror})") from None


def _read_in_blocks(path: Path, jobs: int) -> History | None:
    """The history in a file or a run's folder, read by several processes; None if it takes one."""
    from tidemark.checkers.history.history_blocks import places, read_block, together

    file = path / HISTORY if path.is_dir() else path
    blocks = places(file, jobs)
    if not blocks:
        return None
    with spread_over(jobs, dear=True) as spread:
        return together(file, spread(read_block, blocks))


class CheckOptions(Options):
    """What ``tidemark check`` can be asked."""

    path: Path | StoreAddress = argument(type=CampaignPlace(path_type=Path))
    contract: str | None = shared(contract_option)
    model: str | None = shared(model_option)
    of_model: ModelOptions = group(ModelOptions)
    checkers: tuple[str, ...] = shared(checker_option)
    jobs: int | None = option(
        "Of a long file of JSON lines or EDN: so many processes read it, which is most of the work.  [default: 1]",
        type=POSITIVE,
    )
    campaign: CampaignCheckOptions = group(CampaignCheckOptions)
    ci: CiOptions = group(CiOptions)
    as_json: bool = shared(json_option)


@click.command("check", epilog=EPILOG)
@taking(CheckOptions)
def check_command(options: CheckOptions) -> int:
    """Check the history at PATH: a run's folder, or a file of anybody's (docs/checking-your-own-history.md), client operations
    alone included: JSON lines, Jepsen's EDN, or Parquet. A dash is standard input.

    Of a campaign's folder all stored histories are judged again, by these checkers. What they say stands beside what was said then,
    and the runs that are judged otherwise are listed.
    """
    path = at_hand(options.path)
    contract, model, asked = options.contract, options.model, options.of_model.asked(options.model)
    if is_campaign(path):
        if model is not None:
            raise click.UsageError("a campaign's histories are logs: --model is for one history")
        if options.jobs is not None:
            raise click.UsageError("--jobs is for one history: a campaign is spread by --master")
        own = load_checkers(options.checkers)
        return check_campaign(path, contract, own, options.campaign, options.ci, as_json=options.as_json)
    for name, word in options.campaign.typed.items():
        if getattr(options.campaign, name):
            raise click.UsageError(f"{word} is for a campaign, and {path} is none")
    if options.jobs is not None and (model is not None or options.checkers):
        raise click.UsageError(
            "--jobs is for our own checkers of logs: --model and --checker want each operation, by one reader"
        )
    refuse_with_model(model, contract, options.checkers)
    if model is not None:
        return check_by_model(path, read(path, rows=True), model, asked, options.ci, as_json=options.as_json)
    own = load_checkers(options.checkers)
    history = read(path, rows=bool(own), jobs=options.jobs or 1)
    with refused(ValueError, of=path):
        if own:
            refuse_what_is_no_log(history.ops)
        verdict = check(history, contract)
    if path.is_dir() and contract is None:
        store_verdict_again(path, verdict, history)
    if own:
        verdict = and_checked_by(verdict, history, own)
    options.ci.tell([case_of(verdict, "tidemark check", str(path))])
    if options.as_json:
        click.echo(json.dumps(verdict.to_json()))
    else:
        print_verdict(verdict, history, output())
        if (step := next_step(path, history, verdict)) is not None:
            click.echo(f"  next: {step}")
    return exit_code([verdict.valid])
