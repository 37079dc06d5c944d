"""A table in each format, with what each format must not take for its own."""

import csv
import io

from rich.console import Console

from tidemark.harness.report.result_table import ResultTable, as_csv, as_latex, as_markdown, print_as_text

TABLE = ResultTable(
    ("variant", "share>"), [("a_b & c\\d [x]|y", 0.123456), ("5–9 % of $1 ≥ ✓\nß", None), ("\x1b[31m", 7)], "A #1 title"
)


def test_latex():
    assert as_latex(TABLE) == (
        "% A #1 title\n"
        "\\begin{tabular}{lr}\n\\hline\n"
        "variant & share \\\\\n\\hline\n"
        "a\\_b \\& c\\textbackslash{}d [x]$|$y & 0.1235 \\\\\n"
        "5--9 \\% of \\$1 $\\geq$ U+2713 ß &  \\\\\n"
        "\\textasciicircum{}[[31m & 7 \\\\\n"
        "\\hline\n\\end{tabular}\n"
    )


def test_a_row_of_latex_that_begins_with_a_bracket_is_no_argument_of_the_line_before():
    assert "\\\\\n{[}x] \\\\\n" in as_latex(ResultTable(("a",), [("y",), ("[x]",)]))


def test_markdown():
    assert as_markdown(TABLE) == (
        "**A #1 title**\n\n"
        "| variant | share |\n| --- | --: |\n"
        "| a\\_b & c\\\\d \\[x\\]\\|y | 0.1235 |\n"
        "| 5–9 % of $1 ≥ ✓ ß |  |\n"
        "| ^\\[\\[31m | 7 |\n"
    )


def test_csv_keeps_all_digits_and_lines():
    assert list(csv.reader(io.StringIO(as_csv(TABLE)))) == [
        ["variant", "share"], ["a_b & c\\d [x]|y", "0.123456"], ["5–9 % of $1 ≥ ✓\nß", ""], ["^[[31m", "7"],
    ]  # fmt: skip


def test_text_shows_what_looks_like_markup():
    shown = io.StringIO()
    print_as_text(TABLE, Console(file=shown, width=200))

    assert [" ".join(line.split()) for line in shown.getvalue().splitlines()] == [
        "", "A #1 title", "variant share", "a_b & c\\d [x]|y 0.1235", "5–9 % of $1 ≥ ✓ ß", "^[[31m 7",
    ]  # fmt: skip


def test_a_negative_number_has_a_minus_sign_in_latex_and_a_name_keeps_its_hyphens():
    latex = as_latex(
        ResultTable(("variant", "points>"), [("kafka-2.7 -1", "-16.7 (-33.6 to -3.4), kafka-0.10"), ("x", -2)])
    )

    assert "kafka-2.7 -1 & $-$16.7 ($-$33.6 to $-$3.4), kafka-0.10 \\\\\n" in latex
    assert "x & $-$2 \\\\\n" in latex


def test_a_table_that_is_too_wide_for_a_page_of_latex_is_set_smaller_and_its_long_cells_are_wrapped():
    words = "a leader that is elected again has not heard of the reign between, and goes on where it was"
    table = ResultTable(
        ("variant", "runs with a loss>", "because"), [("kafka-4.0+forget-log-ends+rebuild-epochs", 12, words)]
    )
    begin, columns, _, head, _, row, *_ = as_latex(table).splitlines()

    assert begin == r"{\footnotesize\setlength{\tabcolsep}{2pt}%"
    assert columns == r"\begin{tabular}{p{0.46\linewidth}rp{0.46\linewidth}}"
    assert r"\shortstack[r]{runs \\ with \\ a \\ loss}" in head
    assert row.startswith(r"kafka-4.0+\allowbreak{}forget-log-ends+\allowbreak{}rebuild-epochs & 12 & a leader")
    assert as_latex(table).endswith("\\end{tabular}}\n")


def test_columns_of_latex_never_are_narrower_than_their_longest_word():
    wide = ResultTable(("a",) * 8, [("unbreakable" * 4,) + ("some words that go on " * 3,) * 7])

    assert r"\begin{tabular}{lp{" in as_latex(wide)
    assert as_latex(wide).startswith(r"{\scriptsize")
