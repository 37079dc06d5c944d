"""--format: a table of results for a paper, a page or a spreadsheet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from tidemark.cli.output import output

if TYPE_CHECKING:
    from tidemark.harness.report.comparison import Comparison
    from tidemark.harness.report.result_table import ResultTable

TEXT: Final = "text"

format_option = click.option(
    "--format",
    "table_format",
    type=click.Choice([TEXT, "csv", "latex", "markdown"]),
    default=TEXT,
    show_default=True,
    help="How the table is printed; LaTeX's needs no package. Anything but text prints the table alone.",
)


def refuse_with_json(table_format: str, *, as_json: bool, no_table: str = "") -> None:
    """See that one format is asked for, of something that is a table.

    Args:
        table_format: what is asked for.
        as_json: whether JSON is, too.
        no_table: where what is printed is none, what prints one.

    Raises:
        click.UsageError: two are, or there is no table.
    """
    if as_json and table_format != TEXT:
        raise click.UsageError(f"--json and --format {table_format} are two formats: give one of them")
    if no_table and table_format != TEXT:
        raise click.UsageError(f"--format {table_format} is for a table, which {no_table}")


def print_comparison_as(comparison: Comparison, table_format: str) -> None:
    """Print it as a table, in a format that is not text: in CSV with all numbers by themselves."""
    from tidemark.harness.report.comparison_table import to_read, to_work_with

    print_table((to_work_with if table_format == "csv" else to_read)(comparison), table_format)


def print_table(table: ResultTable, table_format: str) -> None:
    """Print it on standard output, in one of the formats."""
    from tidemark.harness.report.result_table import WRITERS, print_as_text

    if table_format == TEXT:
        print_as_text(table, output())
    else:
        click.echo(WRITERS[table_format](table), nl=False)
