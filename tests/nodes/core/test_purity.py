"""The core has no clock, no chance, no threads and no I/O: nothing it imports could bring them in."""

import ast
import sys
from pathlib import Path

import pytest

import tidemark.nodes.core

ROOT = Path(tidemark.nodes.core.__file__).parent
FILES = sorted(path for path in ROOT.rglob("*.py"))
IMPURE = {
    "asyncio", "datetime", "io", "logging", "multiprocessing", "os", "pathlib", "random", "secrets", "socket",
    "subprocess", "tempfile", "threading", "time", "uuid",
}  # fmt: skip


def top(module):
    first, *below = module.split(".")
    return ".".join([first, *below[:1]]) if first == "tidemark" else first


def imports(path):
    """The top-level names of all modules a file imports; of ours the room as well."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (top(alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield top(node.module)


def named(path):
    return path.relative_to(ROOT).as_posix()


def test_there_is_something_to_look_at():
    assert {"broker.py", "controller/zookeeper.py", "truncation/kip279.py"} <= {named(path) for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=named)
def test_it_imports_only_itself_and_the_standard_library(path):
    assert set(imports(path)) - {"tidemark.nodes"} <= sys.stdlib_module_names


@pytest.mark.parametrize("path", FILES, ids=named)
def test_it_imports_nothing_with_a_clock_chance_threads_or_files(path):
    assert not set(imports(path)) & IMPURE


@pytest.mark.parametrize("path", FILES, ids=named)
def test_it_opens_prints_and_hashes_nothing(path):
    """``hash`` of a string differs from process to process, ``id`` from run to run."""
    called = {
        node.func.id
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }

    assert not called & {"eval", "exec", "hash", "id", "input", "open", "print"}
