"""``tidemark anomalies`` and ``tidemark faults``: what can be found, and what can be done to a cluster."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click
from rich.table import Table

from tidemark.cli.exits import VALID
from tidemark.cli.options import ProfileName, json_option
from tidemark.cli.output import output

if TYPE_CHECKING:
    from collections.abc import Mapping

ANOMALIES_EPILOG = """\b
Examples:
  tidemark anomalies
  tidemark hunt --variant kafka-2.0 --for log-matching --until-found    search for one of them"""
FAULTS_EPILOG = """\b
Examples:
  tidemark faults
  tidemark faults --profile intact         those that random plans of this profile draw from
  tidemark faults --json"""


@click.command("anomalies", epilog=ANOMALIES_EPILOG)
@json_option
def anomalies_command(*, as_json: bool) -> int:
    """List what the checkers find, each in one sentence; docs/anomalies.md has the exact definitions."""
    from tidemark.checkers.known_anomalies import MEANINGS, NEAR_MISS_MEANINGS

    if as_json:
        click.echo(json.dumps({"anomalies": MEANINGS, "near_misses": NEAR_MISS_MEANINGS}, indent=1))
        return VALID
    _print("anomaly", MEANINGS)
    click.echo()
    _print("near miss", NEAR_MISS_MEANINGS)
    return VALID


@click.command("faults", epilog=FAULTS_EPILOG)
@click.option("--profile", type=ProfileName(), help="Only those of a profile of random plans.")
@json_option
def faults_command(profile: str | None, *, as_json: bool) -> int:
    """List the faults that a plan may have; docs/faults.md tells more of each."""
    from tidemark.nemesis import KINDS, PROFILES, kinds_of

    drawn = KINDS if profile is None else kinds_of(profile)
    kinds = {kind: row.sentence.in_plans for kind, row in KINDS.items() if kind in drawn}
    if as_json:
        of_kind = {kind: [name for name, known in PROFILES.items() if kind in known] for kind in kinds}
        click.echo(json.dumps({kind: {"does": kinds[kind], "profiles": of_kind[kind]} for kind in kinds}, indent=1))
        return VALID
    _print("fault", kinds)
    return VALID


def _print(what: str, sentences: Mapping[str, str]) -> None:
    table = Table(box=None, show_edge=False, pad_edge=False)
    table.add_column(what, no_wrap=True)
    table.add_column("", overflow="fold")
    for name, words in sentences.items():
        table.add_row(name, words)
    output().print(table)
