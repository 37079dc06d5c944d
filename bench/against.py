"""Two trees in turn: what this one takes for a piece of work, beside what another revision takes for the same.

``python -m bench against REV NAME…`` checks REV out into a temporary folder, with an environment of its own only if it asks for
other packages. For each name (`bench/works.py`) pairs of processes are started, one in each tree; both do the work in turn, and
their CPU seconds are compared pair by pair. So what else the machine does strikes both alike, and what differs from process to
process (addresses, caches) is part of the spread. That all of six pairs lie on one side of 1 happens once in 32 times by chance.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple, Self

from bench.works import WORKS

ROOT = Path(__file__).parents[1]
USAGE = "python -m bench against REV NAME [NAME …]"
ROOMS = ("nodes", "nemesis", "checkers", "harness", "pipeline")
BESIDE = ("bench", "tests")
"""What works are made with; both trees have this tree's."""
LOCK = "requirements-dev.lock"
PAIRS = 6
TURNS = 3
"""In each pair of processes, after one for nothing."""


class AgainstError(ValueError):
    """The trees cannot be compared; the message says why."""


class Ratio(NamedTuple):
    """CPU seconds of this tree by those of the other: the median of pairs, the least and the greatest."""

    middle: float
    least: float
    most: float

    def in_words(self) -> str:
        """As a phrase."""
        told = "slower" if self.least > 1 else "quicker" if self.most < 1 else "no difference to be seen"
        return f"{self.middle:.3f} times ({self.least:.3f} … {self.most:.3f}): {told}"


def main(rev: str = "", *names: str) -> int:
    """Print a line for each name; 254 if it cannot be compared."""
    try:
        commit = asked_for(ROOT, rev, names)
        with tempfile.TemporaryDirectory(prefix="tidemark-against-") as folder:
            ours = as_installed(ROOT, Path(folder) / "ours")
            tree = checked_out(ROOT, commit, Path(folder) / "tree")
            theirs, python = as_installed(tree, Path(folder) / "theirs"), python_for(tree)
            for name in names:
                spent = [pair(ours, sys.executable, theirs, python, name, rev, first=n % 2) for n in range(PAIRS)]
                here, there = ([one[which] / TURNS for one in spent] for which in (0, 1))
                print(
                    f"{name:<16}{median(here):7.3f} s here, {median(there):7.3f} s at {rev}; {ratio(spent).in_words()}",
                    flush=True,
                )
    except AgainstError as error:
        print(error, file=sys.stderr)
        return 254
    return 0


def asked_for(root: Path, rev: str, names: Sequence[str]) -> str:
    """The commit of a revision.

    Raises:
        AgainstError: there is no such revision, or none is asked for, or there is no such work.
    """
    if not rev or not names:
        raise AgainstError(f"{USAGE}; names are {', '.join(WORKS)}")
    for name in names:
        if name not in WORKS:
            raise AgainstError(f"no work {name!r} to compare by; there are {', '.join(WORKS)}")
    found = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{rev}^{{commit}}")
    if found.returncode:
        raise AgainstError(f"no revision {rev!r} here; git log and git branch --all say which there are")
    return found.stdout.strip()


def checked_out(root: Path, commit: str, to: Path) -> Path:
    """The files of a commit, in a clone that shares what git stores."""
    for done in (
        _git(root, "clone", "--quiet", "--shared", "--no-checkout", str(root), str(to)),
        _git(to, "checkout", "--quiet", "--detach", commit),
    ):
        if done.returncode:
            raise AgainstError(f"{commit} cannot be checked out: {done.stderr.strip().splitlines()[-1]}")
    return to


def as_installed(tree: Path, to: Path) -> Path:
    """A folder from which a Python imports a tree's rooms by their names, before any that is installed."""
    package = to / "tidemark"
    package.mkdir(parents=True)
    inside = [path for path in (tree / "tidemark").glob("*") if path.name != "__pycache__"]
    for path in (*inside, *(tree / room for room in ROOMS)):
        (package / path.name).symlink_to(path)
    for name in BESIDE:
        (to / name).symlink_to(ROOT / name)
    return to


def python_for(tree: Path) -> str:
    """This environment's Python if the tree is pinned to the same packages, otherwise that of an environment of its own."""
    if (tree / LOCK).exists() and (tree / LOCK).read_bytes() == (ROOT / LOCK).read_bytes():
        return sys.executable
    print("other packages there: an environment is made for them (a minute)", file=sys.stderr)
    done = subprocess.run([str(tree / ".ci" / "make-env")], capture_output=True, text=True, check=False)
    if done.returncode:
        raise AgainstError(f"no environment can be made for that revision: {done.stderr.strip().splitlines()[-1]}")
    return str(tree / ".venv" / "bin" / "python")


def pair(
    ours: Path, our_python: str, theirs: Path, their_python: str, name: str, rev: str, *, first: int
) -> tuple[float, float]:
    """CPU seconds of each tree, in processes of their own that take turns; ``first`` says who begins (0: this tree)."""
    with served(ours, our_python, name, "this tree") as here, served(theirs, their_python, name, rev) as there:
        spent = [0.0, 0.0]
        for turn in range(TURNS):
            for which in (0, 1) if (turn + first) % 2 == 0 else (1, 0):
                spent[which] += (here, there)[which].turn()
    return spent[0], spent[1]


def ratio(spent: Sequence[tuple[float, float]]) -> Ratio:
    """What pairs of CPU seconds come to."""
    ratios = [here / there for here, there in spent]
    return Ratio(median(ratios), min(ratios), max(ratios))


class Server:
    """A process that does a piece of work in a tree, when it is told to."""

    def __init__(self, tree: Path, python: str, name: str, rev: str) -> None:
        """Start it; it has done the work once.

        Raises:
            AgainstError: the tree lacks what the work needs.
        """
        self._name, self._rev = name, rev
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        self._process = subprocess.Popen(
            [python, "-m", "bench.works", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=tree,
            env=environment | {"PYTHONPATH": str(tree), "PYTHONHASHSEED": "0"},
        )

    def ready(self) -> Self:
        """Wait until it has done the work once."""
        self._answer()
        return self

    def turn(self) -> float:
        """CPU seconds that the work takes."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return float(self._answer()["seconds"])

    def end(self) -> None:
        """It ends when nothing more is asked of it."""
        self._process.communicate()

    def _answer(self) -> dict[str, object]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise AgainstError(f"{self._rev}: the work {self._name!r} failed, as told above")
        told = json.loads(line)
        if "lacks" in told:
            raise AgainstError(f"{self._rev} does not have what {self._name!r} measures: {told['lacks']}")
        return dict(told)


@contextmanager
def served(tree: Path, python: str, name: str, rev: str) -> Iterator[Server]:
    """A process for as long as it is entered."""
    server = Server(tree, python, name, rev)
    try:
        yield server.ready()
    finally:
        server.end()


def _git(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(["git", "-C", str(tree), *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise AgainstError("there is no git here, which keeps the revisions") from None
