"""examples/ask_once.py does what docs/for-students.md shows: KIP-101's flaw comes out of an exhaustive search."""

import re
from pathlib import Path

from click.testing import CliRunner

from tidemark.cli import tidemark

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "for-students.md").read_text(encoding="utf-8")


def explored(*words):
    rule = (
        "--rule",
        str(ROOT / "examples" / "ask_once.py"),
        "--variant",
        "kafka-2.1+truncation=ask-once",
        "--jobs",
        "1",
    )
    return CliRunner().invoke(tidemark, ["explore", *rule, *words], env={"COLUMNS": "1000"}).output


def test_the_search_ends_with_the_moves_that_the_page_shows():
    told = explored("--brokers", "2", "--invariant", "LogMatchingHw")

    moves = re.findall(r"^[1-9]\. .+$", told, re.MULTILINE)
    assert len(moves) == 9
    assert "\n".join(moves) in PAGE
    assert (broken := re.search(r"^LogMatchingHw is broken after 9 moves.+\(broker 1\)", told, re.MULTILINE))
    assert broken[0] in PAGE


def test_known_bugs_of_the_preset_are_repaired_and_the_rule_stays():
    told = explored("--invariant", "StrongIsr", "--pass-over", "known")

    head = "kafka-2.1+truncation=ask-once+forget-log-ends: StrongIsr\npassed over: missed-reign (+forget-log-ends)\n"
    assert told.startswith(head)
    assert head in PAGE
    assert (broken := re.search(r"^StrongIsr is broken after 11 moves.+, which leads", told, re.MULTILINE))
    assert broken[0] in PAGE


def test_with_one_record_what_is_found_is_a_known_bug_and_without_it_nothing():
    one_record = ("--invariant", "StrongIsr", "--records", "1")

    assert "of broker 3, it never hears of." in (told := explored(*one_record))
    assert "StrongIsr is broken after 11 moves" in told
    assert "\nholds within these bounds: " in explored(*one_record, "--pass-over", "known")
