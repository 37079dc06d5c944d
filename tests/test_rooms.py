"""The house: rooms lie in layers, files import each other in no circle, and no page names a file that is not there."""

import ast
import re
import tomllib
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("nodes", "nemesis", "checkers", "harness", "pipeline")
INVENTED = {"checkers/replicas/not_elected.py"}
"""Files that a page has its reader write."""

ONE_IDEA = {f"tidemark.nodes.core.{name}" for name in ("broker", "replica", "leader", "follower")}
"""A broker, the replicas it hosts, and the two roles that a replica plays: each knows the others, and none makes sense alone."""


def modules():
    """Module → its file."""
    found = {}
    for room in (*ROOMS, "tidemark"):
        for path in sorted((ROOT / room).rglob("*.py")):
            parts = ("tidemark", *path.relative_to(ROOT if room in ROOMS else ROOT / room).with_suffix("").parts)
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


@cache
def imported(path):
    """The modules of ours that a file imports, also inside functions and for type checkers only."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = {alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            found.update(name if name in MODULES else node.module for name in names.values())
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return found


def one(module):
    return "one idea" if module in ONE_IDEA else module


@cache
def contracts():
    """Those about layers."""
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    return [contract for contract in linter["contracts"] if contract["type"] == "layers"]


@cache
def layers():
    """The rooms, lowest first; those within a room below it."""
    house, *inner = [
        [room.strip() for layer in reversed(contract["layers"]) for room in layer.split("|")]
        for contract in contracts()
    ]
    for rooms in inner:
        at = house.index(rooms[0].rpartition(".")[0])
        house[at:at] = rooms
    return house


@cache
def room_of(module):
    """The innermost room that a module lies in; the modules that only tell what a package is lie in none."""
    return max((room for room in layers() if f"{module}.".startswith(f"{room}.")), key=len, default=None)


def test_files_import_each_other_in_no_circle():
    sorter = TopologicalSorter()
    for module, path in MODULES.items():
        sorter.add(one(module), *({one(other) for other in imported(path) if other in MODULES} - {one(module)}))
    try:
        sorter.prepare()
    except CycleError as error:
        pytest.fail(f"a circle: {' -> '.join(error.args[1])}")


def test_every_file_lies_in_a_room():
    outside = {module for module in MODULES if room_of(module) is None}

    assert outside == {"tidemark", "tidemark.nodes", "tidemark.harness", "tidemark.pipeline"}


def test_no_room_holds_a_quarter_of_the_code():
    lines = dict.fromkeys(layers(), 0)
    for module, path in MODULES.items():
        if (room := room_of(module)) is not None:
            lines[room] += len(path.read_text(encoding="utf-8").splitlines())
    biggest = max(lines, key=lines.get)

    assert lines[biggest] * 4 < sum(lines.values()), f"{biggest} has {lines[biggest]} of {sum(lines.values())} lines"


def test_the_page_about_rooms_tells_of_each_in_the_order_of_their_layers():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.partition("## Rooms\n")[2].partition("\n## ")[0]
    told = [name.replace("/", ".") for name in re.findall(r"^\| `([a-z_/]+?)(?:/|\.py)?` \|", table, re.MULTILINE)]
    told = [name if name.startswith("tidemark.") else f"tidemark.{name}" for name in told]

    assert told == layers()
    drawn = [
        line.strip() for picture in re.findall(r"```\n(.*?)```", table, re.DOTALL) for line in picture.splitlines()
    ]
    assert drawn == [
        re.sub(r"tidemark\.(?!command|pytest_plugin|cli|served)", "", layer).replace(".", "/")
        for contract in contracts()
        for layer in contract["layers"]
    ]


@pytest.mark.parametrize(
    "page", sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]), ids=lambda page: page.name
)
def test_a_file_that_a_page_names_is_there(page):
    text = page.read_text(encoding="utf-8")
    named = set(
        re.findall(
            r"`((?:nodes|nemesis|checkers|harness|pipeline|tidemark|docker|tests|bench|examples|docs)/[a-z_./-]+)`",
            text,
        )
    )

    assert sorted(name for name in named - INVENTED if not (ROOT / name).exists()) == []
