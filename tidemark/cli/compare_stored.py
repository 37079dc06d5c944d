"""``tidemark compare --campaign``: campaigns that are stored, held against each other; nothing is run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from tidemark.cli.campaign_place import StoreAddress, at_hand
from tidemark.cli.campaign_report import cases, exit_code_of
from tidemark.cli.exits import VALID
from tidemark.cli.for_ci import CiOptions
from tidemark.cli.output import output
from tidemark.cli.refused import refused
from tidemark.cli.sweep import is_sweep
from tidemark.cli.table_format import TEXT, print_comparison_as


def compare_stored(
    campaigns: Sequence[Path | StoreAddress],
    baseline: str | None,
    master: str | None,
    ci: CiOptions,
    table_format: str,
    *,
    fails: bool,
    as_json: bool,
) -> int:
    """Print how the variants of the campaigns, and of their parts, compare; `fails`: a violation is told by the exit code.

    Raises:
        click.ClickException: they cannot be compared.
    """
    folders = _with_their_parts([at_hand(campaign) for campaign in campaigns])
    if len(folders) < 2:
        raise click.UsageError("--campaign needs a second one; of one campaign tell tidemark report")
    for folder in filter(is_sweep, folders):
        raise click.ClickException(
            f"{folder} holds a sweep, whose cells differ in their settings; tidemark report {folder} tells each cell"
        )
    from tidemark.pipeline.compare.across_campaigns import compare_campaigns, differences
    from tidemark.pipeline.compare.compare_table import print_comparison
    from tidemark.pipeline.engines.spark_or_not import reading_session

    with refused():
        differ = differences(folders)  # before a JVM is started for nothing
        comparison = compare_campaigns(reading_session(master, *folders), folders, baseline)
    if as_json:
        click.echo(json.dumps(comparison.to_json() | {"differences": differ}))
    else:
        console = output(stderr=table_format != TEXT)
        for sentence in differ or ["The campaigns have the same settings and the same code."]:
            console.print(sentence, highlight=False, markup=False)
        if table_format == TEXT:
            print_comparison(comparison, console, between_campaigns=True)
        else:
            print_comparison_as(comparison, table_format)
    ci.tell(cases(comparison))
    return exit_code_of(comparison) if fails else VALID


def _with_their_parts(campaigns: Sequence[Path]) -> list[Path]:
    """The folders, and behind each those of its parts, once each."""
    from tidemark.pipeline.folder.campaign_parts import added_folders

    found: dict[Path, Path] = {}
    for campaign in campaigns:
        for folder in (campaign, *added_folders(campaign)):
            found.setdefault(folder.resolve(), folder)
    return list(found.values())
