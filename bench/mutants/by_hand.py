"""Defects that somebody thought of (`by_hand.toml`): what people get wrong in such protocols."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bench.mutants.mutation import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable

TABLE = Path(__file__).with_name("by_hand.toml")


class Defect(NamedTuple):
    """One.

    `says`: what is wrong, in words. `file`: from the top of the repository. `before`, `after`: a piece of its source that occurs
    once, and what takes its place. `variant`: in which it is hunted.
    """

    says: str
    file: str
    before: str
    after: str
    variant: str

    def put(self, source: str) -> ast.Module:
        """A file with it.

        Raises:
            ValueError: the file has no such piece any more, or several.
        """
        if source.count(self.before) != 1:
            raise ValueError(f"{self.file} has {source.count(self.before)} times {self.before!r}")
        return ast.parse(source.replace(self.before, self.after))


def defects() -> dict[str, Defect]:
    """All of them, by name."""
    return {name: Defect(**fields) for name, fields in tomllib.loads(TABLE.read_text(encoding="utf-8")).items()}


def hunt_all(names: Iterable[str], seconds: float, kept: Path) -> None:
    """Hunt for each with defaults, in a process of its own; what has a line in ``kept`` is not tried again."""
    told = _read(kept)
    with kept.open("a", encoding="utf-8") as lines:
        for name in names or defects():
            if name not in told:
                words = [sys.executable, "-m", "bench.mutants.worker", "by-hand", name, str(seconds)]
                done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
                told[name] = {"name": name, **json.loads(done.stdout.splitlines()[-1])}
                print(json.dumps(told[name]), file=lines, flush=True)
    print(table(told))


def _read(kept: Path) -> dict[str, dict[str, Any]]:
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    return {line["name"]: line for line in map(json.loads, lines)}


def table(told: dict[str, dict[str, Any]]) -> str:
    """What came of them, as Markdown."""
    known = {name: defect for name, defect in defects().items() if name in told}
    found = sum(bool(told[name]["found"]) for name in known)
    rows = [f"{len(known)} defects: {found} are found.", "", "| defect | in | found | after |", "|---|---|---|---|"]
    for name, defect in known.items():
        one = told[name]
        rows.append(f"| {defect.says} | `{defect.variant}` | {one['found'] or '**no**'} | {one['seconds']} s |")
    return "\n".join(rows)
