"""An adversary of the checkers: correct histories of logs and of every object, and the same with one anomaly.

None of the correct ones may be called invalid. Nothing could explain an anomaly, so each must be found. What is made up knows
nothing of the checkers (`bench/forged`). A history that is judged wrongly is kept below the folder for temporary files, in
``adversary``.
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from bench.forged.halves import Half, as_edn, as_lines
from bench.forged.log_anomalies import LOG_ANOMALIES
from bench.forged.logs import World
from bench.forged.object_anomalies import OBJECT_ANOMALIES
from bench.forged.objects import MODELS, Use
from tidemark.checkers import check, read_stream
from tidemark.checkers.objects.workloads import judge

KEPT = Path(tempfile.gettempdir()) / "adversary"
_TRIES = 2_000


class Case(NamedTuple):
    """A kind of history: of an object, or of logs (``log``); without or with an anomaly, and the names by which that is found."""

    model: str
    anomaly: str | None = None
    names: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"{self.model}: {self.anomaly or 'correct'}"


CASES = (
    [Case("log"), *(Case("log", one.__name__, frozenset(names)) for one, names in LOG_ANOMALIES.items())]
    + [Case(model) for model in MODELS]
    + [Case(model, one.__name__) for model, those in OBJECT_ANOMALIES.items() for one in those]
)


def main(each: str = "1000") -> None:
    """Print for each kind how many histories were judged rightly, and which were not."""
    print(f"{sum(case.anomaly is not None for case in CASES)} anomalies, {each} histories of each, and correct ones")
    wrong = 0
    for case in CASES:
        missed = [seed for seed in range(int(each)) if not rightly(case, seed)]
        wrong += len(missed)
        told = f"  wrong: {len(missed)}, seeds {', '.join(map(str, missed[:5]))}" if missed else ""
        print(f"{case!s:<44}{int(each) - len(missed):>6} of {each}{told}", flush=True)
    if wrong:
        print(f"the histories are in {KEPT}")
        sys.exit(1)


def rightly(case: Case, seed: int) -> bool:
    """Make a history, and see whether it is judged as it should be; else it is kept."""
    found = forged(case, seed)
    history = read_stream(io.BytesIO(found), rows=case.model != "log")
    if case.model == "log":
        verdict = check(history)
        names = {one.name for one in verdict.anomalies if one.verdict == "violation"}
        valid = verdict.valid
    else:
        valid, names = judge(history, case.model).parts[case.model].valid, set()
    right = (
        valid != "invalid"
        if case.anomaly is None
        else valid == "invalid" and (not case.names or bool(names & case.names))
    )
    if case.anomaly is None and case.model == "log" and valid != "valid":
        right = "no send was acknowledged" in str(verdict.unknown_because)
    if not right:
        KEPT.mkdir(exist_ok=True)
        suffix = "edn" if found[:2] == b"{:" else "jsonl"
        (KEPT / f"{case.model}-{case.anomaly or 'correct'}-{seed}.{suffix}").write_bytes(found)
    return right


def forged(case: Case, seed: int) -> bytes:
    """A history's file; the same for the same seed.

    Raises:
        LookupError: no history was found that has a place for the anomaly.
    """
    for halves, edn, random in _tries(case, seed):
        return as_edn(halves) if edn else as_lines(halves, random)
    raise LookupError(f"{case}: no history of seed {seed} has a place for it")


def _tries(case: Case, seed: int) -> Iterator[tuple[list[Half], bool, Random]]:
    for attempt in range(_TRIES):
        random = Random(f"{seed} {attempt}")
        edn = random.random() < 0.5
        if case.model == "log":
            world = World(random, edn=edn)
            found = case.anomaly is None or _named(LOG_ANOMALIES, case.anomaly)(world)
            halves = world.halves
        else:
            use = Use(random, case.model, fresh=case.anomaly is not None or random.random() < 0.5)
            found = case.anomaly is None or _named(OBJECT_ANOMALIES[case.model], case.anomaly)(use)
            halves = use.halves
        if found:
            yield halves, edn, random


def _named(those: Iterable[Callable[..., bool]], name: str) -> Callable[..., bool]:
    return next(one for one in those if one.__name__ == name)
