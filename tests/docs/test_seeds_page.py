"""docs/seeds.md names, for each line of the seed documents, tests and scripts that are there."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "seeds.md").read_text(encoding="utf-8")
ROWS = [tuple(re.split(r" \| ", row)) for row in re.findall(r"^\| (.+) \|$", PAGE, re.MULTILINE)]
CLAIMS = [(says, shown) for says, shown in ROWS if says != "the page says"]
SCRIPTS = {path.stem for path in (ROOT / "harness" / "scenario" / "scripts").rglob("*.scenario")}


@cache
def names_in(path):
    tree = ast.parse((ROOT / "tests" / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def proofs(shown):
    """Every test and script that a row names; words in quotes that are neither are names of checkers and the like."""
    for word in re.findall(r"`([^`]+)`", shown):
        path, _, test = word.partition("::")
        if test:
            assert test in names_in(path), word
            yield word
        elif word in SCRIPTS:
            yield word


@pytest.mark.parametrize(("says", "shown"), CLAIMS, ids=[says[:60] for says, _ in CLAIMS])
def test_each_line_of_a_seed_is_shown_by_something(says, shown):
    pages = re.findall(r"\]\(([\w/-]+\.md)", shown)

    assert list(proofs(shown)) or pages
    for page in pages:
        assert (ROOT / "docs" / page).is_file()


def test_all_five_seeds_have_a_table():
    for seed in ("high-water-mark.md", "kafka-high-watermark-and-leader-epoch.md", "kafka-log-divergence.md"):
        assert f"`{seed}`" in PAGE
    assert "`kip-279.md`" in PAGE
    assert "`replication-reconciliation.md`" in PAGE


def test_a_script_that_is_said_to_be_there_is_there():
    named = {word for _, shown in CLAIMS for word in re.findall(r"`([a-z0-9]+(?:-[a-z0-9]+)+)`", shown)}

    assert named - SCRIPTS == {"log-matching", "dirty-read", "inconsistent-offsets"}  # checkers
