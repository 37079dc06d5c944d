"""All mutants of a draw: tried, kept, told."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tomllib
from collections import Counter
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from bench.mutants.by_hand import hunt_all
from bench.mutants.mutation import ROOT, Mutant, files, mutants_of
from tidemark.cli.spread import spread_over

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

JUDGED = Path(__file__).with_name("judged.toml")
"""Survivors that somebody has looked at: a mutant's key → why it breaks no promise, in a sentence."""
SEARCHERS = ("hunt", "random", "script", "corpus")


def run(arguments: Sequence[str]) -> None:
    """Try what has not been tried, or tell."""
    parser = argparse.ArgumentParser(prog="python -m bench.mutants")
    parser.add_argument("--mutants", type=int, default=60, help="how many are drawn")
    parser.add_argument("--seed", type=int, default=29, help="of the draw")
    parser.add_argument("--jobs", type=int, help="processes")
    parser.add_argument("--master", help="Spark's, to spread over its cores instead")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "mutants", help="folder")
    parser.add_argument("--only", metavar="NAME", help="one mutant, such as nodes/core/leader.py#12")
    parser.add_argument("--table", action="store_true", help="print what is known as Markdown, and try nothing")
    parser.add_argument("--by-hand", nargs="*", metavar="NAME", help="hunt for the defects of by_hand.toml instead")
    parser.add_argument("--seconds", type=float, default=60, help="of the CPU, for each defect made by hand")
    options = parser.parse_args(list(arguments))
    folder: Path = options.out
    folder.mkdir(parents=True, exist_ok=True)
    if options.by_hand is not None:
        hunt_all(options.by_hand, options.seconds, folder / "by-hand.jsonl")
        return
    if options.only:
        file, _, number = options.only.partition("#")
        one = mutants_of(file)[int(number)]
        _prepare(folder)
        print(f"{one.name}, line {one.line}, in {one.place}: {one.operator}\n  {one.before}\n→ {one.after}")
        print(json.dumps(Try(folder)(one), indent=1))
        return
    drawn = draw(options.mutants, options.seed)
    kept = folder / "tried.jsonl"
    lines = _read(kept)
    if not options.table:
        _prepare(folder)
        left = [one for one in drawn if one.name not in lines]
        with kept.open("a", encoding="utf-8") as file_of_lines:
            for one, told in zip(left, _try(left, folder, options.jobs, options.master), strict=False):
                lines[one.name] = {**one._asdict(), **told}
                print(json.dumps(lines[one.name]), file=file_of_lines, flush=True)
    print(table([lines[one.name] for one in drawn if one.name in lines]))


def draw(count: int, seed: int) -> list[Mutant]:
    """So many of all mutants; a larger draw begins with the smaller one. Changes elsewhere in the code leave a mutant its place."""
    every = [one for file in files() for one in mutants_of(file)]
    every.sort(key=lambda one: sha256(f"{seed}/{one.key}".encode()).digest())
    return every[:count]


@dataclass(frozen=True, slots=True)
class Try:
    """Tries a mutant in a process of its own; travels to others."""

    folder: Path

    def __call__(self, one: Mutant) -> dict[str, Any]:
        """What came of it."""
        words = [sys.executable, "-m", "bench.mutants.worker", one.file, str(one.number), str(self.folder.resolve())]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode < 0:
            return {"outcome": "found", "by": {"hangs": f"ended by signal {-done.returncode}"}}
        if done.returncode:
            last = (done.stderr.strip().splitlines() or [""])[-1]
            return {"outcome": "found", "by": {"crash": last}}
        told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return told


def _prepare(folder: Path) -> None:
    """What mutants are compared with; anew where the code is another."""
    digest = sha256()
    for room in ("nodes", "nemesis", "checkers", "harness"):
        for path in sorted((ROOT / room).rglob("*.py")):
            digest.update(path.read_bytes())
    code = folder / "code.txt"
    if code.exists() and code.read_text() == digest.hexdigest() and (folder / "scripts.json").exists():
        return
    for old in (*folder.glob("base-*"), folder / "scripts.json"):
        old.unlink(missing_ok=True)
    words = [sys.executable, "-m", "bench.mutants.worker", "nothing", "-1", str(folder.resolve())]
    subprocess.run(words, cwd=ROOT, check=True)
    code.write_text(digest.hexdigest())


def _try(left: list[Mutant], folder: Path, jobs: int | None, master: str | None) -> Iterable[dict[str, Any]]:
    console = Console(stderr=True)
    columns = (TextColumn("mutants"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(compact=True))
    with (
        Progress(*columns, console=console, disable=not console.is_terminal) as bar,
        spread_over(jobs, master, dear=True) as spread,
    ):
        task = bar.add_task("", total=len(left))
        for told in spread(Try(folder), left):
            yield told
            bar.advance(task)


def _read(kept: Path) -> dict[str, dict[str, Any]]:
    if not kept.exists():
        return {}
    lines = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
    return {f"{line['file']}#{line['number']}": line for line in lines}


def judged() -> dict[str, str]:
    """Survivors' keys, and why each breaks no promise."""
    told: dict[str, str] = tomllib.loads(JUDGED.read_text(encoding="utf-8"))["judged"]
    return told


def table(lines: list[dict[str, Any]]) -> str:
    """What is known of these mutants, as Markdown."""
    why = judged()
    changing = [one for one in lines if one["outcome"] != "same"]
    found = [one for one in changing if one["outcome"] == "found"]
    survived = [one for one in changing if one["outcome"] == "survived"]
    harmless = [one for one in survived if _key(one) in why]
    share = 100 * (len(found) + len(harmless)) / max(len(changing), 1)
    found_of = f"{len(found)} are found, and {len(harmless)} break no promise: **{share:.0f} %**."
    told = [
        f"{len(lines)} mutants: {len(lines) - len(changing)} change no run of 500; of the other {len(changing)}, {found_of}",
        "",
        "| change | mutants | change a run | found | break no promise | left |",
        "|---|---|---|---|---|---|",
    ]
    for group in [*sorted({one["operator"] for one in lines}), "all"]:
        of = [one for one in lines if group in ("all", one["operator"])]
        live = [one for one in of if one["outcome"] != "same"]
        dead = sum(one["outcome"] == "found" for one in live)
        no_promise = sum(one["outcome"] == "survived" and _key(one) in why for one in live)
        counts = [len(of), len(live), dead, no_promise, len(live) - dead - no_promise]
        told.append(f"| {group} | " + " | ".join(map(str, counts)) + " |")
    broken = Counter(how for one in found for how in one["by"] if how not in SEARCHERS)
    told += ["", f"Of the {len(found)} that are found {broken['crash']} break a process, {broken['hangs']} never end."]
    everyone = [one for one in found if one.get("everyone")]
    by = Counter(how for one in everyone for how in one["by"])
    who = ", ".join(f"{by[how]} by {how}" for how in SEARCHERS)
    told[-1] += f" All searchers were let loose on {len(everyone)} of them: {who}."
    told += ["", "| survivor | change | |", "|---|---|---|"]
    for one in sorted(survived, key=_key):
        change = f"`{one['before']}` → `{one['after']}`".replace("|", "\\|").replace("\n", " ")
        told.append(
            f"| {one['file']}:{one['line']}, {one['place']} | {change} | {why.get(_key(one), '**not judged**')} |"
        )
    return "\n".join(told)


def _key(line: dict[str, Any]) -> str:
    return Mutant(**{name: line[name] for name in Mutant._fields if name in line}).key
