"""What of the code decides how a run goes: a campaign that goes on must not mix runs of two protocols.

Counted is what the code says, without its docstrings and comments, and only of the rooms that a run passes through: an edit of a
command's help, of a page or of a comparison changes nothing.
"""

from __future__ import annotations

import ast
import hashlib
import platform
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The folder that holds the rooms: a checkout, or the package as it was installed."""
ROOMS = ("nodes", "nemesis", "checkers", "harness", "pipeline")

TABLES = (
    *(f"pipeline/runs/{name}.py" for name in ("campaign_spec", "guard", "simulate", "sweep")),
    *(f"pipeline/chunks/{name}.py" for name in ("chunk", "rows")),
    "pipeline/folder/tables.py",
)
SIMULATED = ("nodes/core", "nodes/families", "nemesis", "checkers", "harness/runs", "harness/simulator", *TABLES)
CONTAINED = (
    "nodes",
    "nemesis",
    "checkers",
    *(f"harness/{name}" for name in ("runs", "machines", "clients", "evidence", "systems", "live")),
    "pipeline/chunks/contained.py",
    *TABLES,
)
JUDGING = (
    "checkers",
    "pipeline/recheck/recheck_chunk.py",
    "pipeline/chunks/rows.py",
    *(f"pipeline/folder/{name}.py" for name in ("recheck_tables", "stored_history")),
)
"""What decides about the verdict of a history that is stored."""
RECIPES = ("docker/kafka", "docker/node", "requirements-node.lock", "requirements.lock")
"""Where the code is a checkout: what the machines of the container world are built from, and what its clients are."""
DIGITS = 16
"""Of a digest, in hexadecimal."""


def code_parts(world: str, root: Path = ROOT) -> dict[str, str]:
    """What decides about a run in this world → its digest: files by name, Python, and the packages that compute with numbers.

    Args:
        world: ``sim`` or ``docker``.
        root: The folder that holds the rooms.
    """
    parts = _parts(SIMULATED if world == "sim" else CONTAINED, root)
    if world != "sim":
        for name in RECIPES:
            for path in sorted(p for p in [root / name, *(root / name).rglob("*")] if p.is_file()):
                parts[path.relative_to(root).as_posix()] = _digest(path.read_bytes())
    return parts


def judging_parts(root: Path = ROOT) -> dict[str, str]:
    """What decides about the verdict of a stored history → its digest, as in `code_parts`."""
    return _parts(JUDGING, root)


def _parts(rooms: tuple[str, ...], root: Path) -> dict[str, str]:
    parts = {"Python": ".".join(platform.python_version_tuple()[:2]), "numpy": _version("numpy")}
    for path in _files(root, rooms):
        content = path.read_bytes()
        digest = _digest_of_code(content) if path.suffix == ".py" else _digest(content)
        parts[path.relative_to(root).as_posix()] = digest
    return parts


@cache
def own_code_parts(world: str) -> Mapping[str, str]:
    """`code_parts` of the code that runs here, which is read once: what changes on the disk from now on is not what runs."""
    return code_parts(world)


def code_digest(parts: Mapping[str, str]) -> str:
    """SHA-256 of all parts."""
    return hashlib.sha256("".join(f"{name} {parts[name]}\n" for name in sorted(parts)).encode()).hexdigest()


def changed(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """The parts that are not the same."""
    return sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))


def _files(root: Path, rooms: tuple[str, ...]) -> Iterator[Path]:
    """Code and data of these rooms."""
    for room in rooms:
        place = root / room
        found = [place] if place.is_file() else sorted(place.rglob("*"))
        for path in found:
            if path.is_file() and "__pycache__" not in path.parts and not path.name.startswith("test_"):
                yield path


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:DIGITS]


@cache
def _digest_of_code(source: bytes) -> str:
    """Kept, as a syntax tree takes milliseconds, and the same files are asked for again."""
    return _digest(_meaning(source))


def _meaning(source: bytes) -> bytes:
    """The syntax tree without docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                del node.body[0]
    return ast.dump(tree).encode()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
