"""Examples in docstrings are run, each module's under the one name it is imported by."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PLACES = {
    "tidemark": ROOT / "tidemark",
    **{f"tidemark.{room}": ROOT / room for room in ("nodes", "nemesis", "checkers", "harness", "pipeline")},
}


def with_examples():
    """The modules whose files have an example."""
    for package, folder in PLACES.items():
        for path in sorted(folder.rglob("*.py")):
            if ">>> " in path.read_text(encoding="utf-8"):
                parts = path.relative_to(folder).with_suffix("").parts
                yield ".".join([package, *(parts[:-1] if parts[-1] == "__init__" else parts)])


MODULES = list(with_examples())


def test_there_are_examples():
    assert {"tidemark.checkers.replicas.log_matching", "tidemark.nemesis.fault"} <= set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_hold(name):
    failed, tried = doctest.testmod(import_module(name))

    assert tried
    assert not failed
