"""examples/ask_once.py does what docs/for-students.md shows: KIP-101's flaw comes out of an exhaustive search."""

import re
from pathlib import Path

from click.testing import CliRunner

from tidemark.cli import tidemark

ROOT = Path(__file__).parents[2]


def test_the_search_ends_with_the_moves_that_the_page_shows():
    page = (ROOT / "docs" / "for-students.md").read_text(encoding="utf-8")
    rule = ROOT / "examples" / "ask_once.py"
    words = [
        "--variant",
        "kafka-2.1+truncation=ask-once",
        "--brokers",
        "2",
        "--invariant",
        "LogMatchingHw",
        "--jobs",
        "1",
    ]

    told = CliRunner().invoke(tidemark, ["explore", "--rule", str(rule), *words], env={"COLUMNS": "1000"}).output

    moves = re.findall(r"^[1-9]\. .+$", told, re.MULTILINE)
    assert len(moves) == 9
    assert "\n".join(moves) in page
    assert (broken := re.search(r"^LogMatchingHw is broken after 9 moves.+\(broker 1\)", told, re.MULTILINE))
    assert broken[0] in page
