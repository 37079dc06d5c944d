"""docs/api.md is the list of public names, and its examples run."""

import ast
import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tidemark

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "api.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_the_pages_list_of_names_is_the_packages():
    table = TEXT.partition("| name | is |\n")[2].partition("\n\n")[0]
    names = re.findall(r"`(\w+)`", table)

    assert sorted(names) == sorted(tidemark.__all__)


def test_type_checkers_read_the_same_names_from_the_same_places():
    tree = ast.parse(Path(tidemark.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    typed = {name.name: one.module for one in block.body for name in one.names if one.module != "typing"}

    assert typed == {name: f"tidemark.{place}" for name, place in tidemark._PLACE_OF.items()}
    assert sorted(tidemark.__all__) == sorted(typed)


@pytest.mark.parametrize("name", tidemark.__all__)
def test_each_is_there_and_says_what_it_is(name):
    assert name in dir(tidemark)
    assert getattr(tidemark, name).__doc__


def test_what_is_not_public_is_not_there():
    with pytest.raises(AttributeError, match="module 'tidemark' has no attribute 'Nemesis'"):
        tidemark.Nemesis  # noqa: B018


def test_nothing_is_loaded_before_it_is_asked_for():
    """A node imports its part of the package, and has not what the rest needs."""
    rest = ("numpy", "click", "docker", "tidemark.checkers", "tidemark.harness")
    ask = f"import sys, tidemark.nodes.core; print([name for name in {rest} if name in sys.modules])"
    told = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)

    assert told.stdout.strip() == "[]"


def test_its_examples_run():
    found = doctest.testfile(str(PAGE), module_relative=False)

    assert found.attempted > 30
    assert found.failed == 0
