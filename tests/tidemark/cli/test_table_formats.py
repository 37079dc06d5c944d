"""``--format`` of the commands that print a table: CSV, LaTeX and Markdown for papers, pages and spreadsheets."""

import csv
import io

import pytest
from click.testing import CliRunner

from tidemark.cli import tidemark

HUNTED = ("hunt", "--variant", "kafka-0.10", "--tries", "32", "--jobs", "1", "--out", "h", "--corpus", "k")
COMPARED = ("compare", "--variants", "kafka-0.10,kafka-2.7", "--plans", "8", "--seed", "1")


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder with a campaign, and with a hunt in which something was caught."""
    desk = tmp_path_factory.mktemp("desk")
    in_folder(desk, (*COMPARED, "--out", "c"))
    in_folder(desk, HUNTED)
    return desk


def in_folder(desk, words):
    with pytest.MonkeyPatch.context() as here:
        here.chdir(desk)
        return CliRunner().invoke(tidemark, words, standalone_mode=False, catch_exceptions=False)


TABLES = {
    "zoo": (("zoo",), "bug", "KAFKA-7128"),
    "runs": (("runs", "c"), "variant", "kafka-0.10"),
    "list": (("list", "."), "folder", "c"),
    "compare": ((*COMPARED, "--out", "c"), "variant", "kafka-2.7"),
    "hunt": (HUNTED, "known", "yes"),
    "scenarios": (("scenario",), "scenario", "missed-reign"),
    "scenario --all": (("scenario", "--all", "--variant", "kafka-2.7"), "scenario", "missed-reign"),
}


@pytest.mark.parametrize("name", TABLES)
def test_csv_has_a_line_of_names_and_nothing_but_the_table(desk, name):
    words, column, value = TABLES[name]
    rows = list(csv.DictReader(io.StringIO(in_folder(desk, (*words, "--format", "csv")).stdout)))
    assert value in [row[column] for row in rows]
    assert all(None not in row and None not in row.values() for row in rows)


@pytest.mark.parametrize("name", ["zoo", "compare"])
def test_latex_and_markdown_are_the_table_alone(desk, name):
    words, column, _ = TABLES[name]
    latex = in_folder(desk, (*words, "--format", "latex")).stdout.splitlines()
    assert latex[-1].startswith("\\end{tabular}")
    assert latex[latex.index("\\hline") + 1].startswith(f"{column} & ")
    markdown = in_folder(desk, (*words, "--format", "markdown")).stdout.splitlines()
    assert any(line.startswith(f"| {column} |") for line in markdown)
    assert markdown[-1].endswith(" |")


def test_the_table_of_a_comparison_has_every_number(desk):
    told = in_folder(desk, (*COMPARED, "--out", "c", "--format", "csv")).stdout
    older, newer = csv.DictReader(io.StringIO(told))
    assert (older["variant"], older["runs"], older["violating"], older["only_here"], older["p"]) == (
        "kafka-0.10",
        "8",
        "2",
        "",
        "",
    )
    assert (newer["violating"], newer["only_baseline"], newer["difference"], newer["primary"]) == (
        "0",
        "2",
        "-0.25",
        "1",
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("scenario", "missed-reign"), "--format csv is for a table, which tidemark scenario --all prints, or --times"),
        (("zoo", "KAFKA-7128"), "--format csv is for a table, which tidemark zoo without KEY prints"),
        (("list", "--json"), "--json and --format csv are two formats: give one of them"),
    ],
)
def test_what_is_no_table_is_refused(words, sentence):
    told = CliRunner().invoke(tidemark, (*words, "--format", "csv"), standalone_mode=False)
    assert told.exception.format_message() == sentence
