"""``tidemark --version``: the version, and the commit where it is known."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

import click

from tidemark.harness.runs.code_version import UNKNOWN, commit_of_code


def print_version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    """Print it and end; a commit with `+` has changes that were not committed."""
    if asked and not context.resilient_parsing:
        click.echo(version_line(_installed(), commit_of_code()))
        context.exit()


def version_line(number: str, commit: str) -> str:
    """Both as one line; without a commit that nobody knows."""
    return f"tidemark, version {number}" + (f" (commit {commit})" if commit != UNKNOWN else "")


def _installed() -> str:
    try:
        return version("tidemark-chaos")
    except PackageNotFoundError:
        return UNKNOWN
