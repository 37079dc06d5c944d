"""Files that are not in order: histories, plans and scripts with something wrong, each to be judged or refused in a sentence.

Bytes are flipped, files cut, lines dropped, doubled, swapped, fields given another type, values nested deep, integers made huge.
Every file is read and judged in a process of its own kind with 1 GB of memory, and 20 s. Of a history that a run wrote, and that is
`invalid`, no removal of lines may be `valid`.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from tidemark.checkers import HistoryFormatError, check, parse_history
from tidemark.checkers.history.history_file import history_lines
from tidemark.harness.scenario import ScenarioError, all_scenarios
from tidemark.harness.scenario.parser import read_scenario
from tidemark.harness.simulator import simulate
from tidemark.nemesis import PlanError, generate_plan
from tidemark.nemesis.plan import read_plan
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.variant import parse_variant

FILES = 20_000
PLANS = 600
SCRIPTS = 600
MEMORY = 1 << 30
PATIENCE_S = 20
SOURCES = [
    ("kafka-0.10", "intact", 10),
    ("kafka-2.7", "destructive", 3),
    ("kafka-4.0", "intact", 5),
    ("kafka-0.11", "destructive", 38),
]
_KINDS = (b'"trace"', b'"op"', b'"final"', b'"converged"', b'"nemesis"', b'"append"', b'"lead"', b'"elect"', b'"meta"')
_ODD = [None, True, -1, 2**63, 10**400, 1.5, "", "x", [], {}, [[]], {"a": 1}, "\ud800", float("nan")]


class HungError(Exception):
    """A file took longer than `PATIENCE_S`."""


def main(files: int = FILES) -> None:
    """Corrupt, judge, count."""
    started = time.monotonic()
    counts: Counter[str] = Counter()
    with multiprocessing.get_context("fork").Pool(1, _limit, maxtasksperchild=500) as pool:
        jobs = [("history", seed) for seed in range(files)]
        jobs += [("plan", seed) for seed in range(PLANS)] + [("script", seed) for seed in range(SCRIPTS)]
        for (kind, seed), told in zip(jobs, pool.imap(_one, jobs, chunksize=20), strict=True):
            counts[f"{kind}: {told}"] += 1
            if told.startswith(("FAILED", "HUNG", "invalid became valid")):
                print(f"{kind} {seed}: {told}", file=sys.stderr)
    for told, count in sorted(counts.items()):
        print(f"{told:<70}{count:>7}")
    print(f"{sum(counts.values())} files in {time.monotonic() - started:.0f} s")


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY + _size(), MEMORY + _size()))
    signal.signal(signal.SIGALRM, _hung)


def _size() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()


def _hung(*_: object) -> None:
    raise HungError


def _one(job: tuple[str, int]) -> str:
    kind, seed = job
    signal.alarm(PATIENCE_S)
    try:
        return {"history": _history, "plan": _plan, "script": _script}[kind](Random(seed))
    except HungError:
        return "HUNG"
    except BaseException as error:  # noqa: BLE001  whatever comes is what is counted
        return f"FAILED {type(error).__name__}: {str(error)[:100]}"
    finally:
        signal.alarm(0)


_CLEAN: dict[int, tuple[list[bytes], str]] = {}


def _source(which: int) -> tuple[list[bytes], str]:
    """The lines of a history that a run wrote, and its verdict."""
    if which not in _CLEAN:
        variant, profile, index = SOURCES[which]
        run = simulate(generate_plan(7, index, profile, ClusterSpec()), parse_variant(variant))
        lines = [line.encode() + b"\n" for line in history_lines(run.history)]
        _CLEAN[which] = lines, check(run.history).valid
    return _CLEAN[which]


def _history(random: Random) -> str:
    lines, clean = _source(random.randrange(len(SOURCES)))
    how = random.choice(sorted(HOW))
    data = HOW[how](lines, random)
    try:
        verdict = check(parse_history(data.splitlines(keepends=True), allow_torn_tail=True)).valid
    except HistoryFormatError:
        return "refused"
    except ValueError as error:
        return f"refused: {type(error).__name__}" if type(error) is not ValueError else "refused"
    if how in REMOVES and clean == "invalid" and verdict == "valid":
        return f"invalid became valid ({how})"
    return verdict


def _plan(random: Random) -> str:
    plan = generate_plan(7, random.randrange(50), "destructive", ClusterSpec())
    return _read(json.dumps(plan.to_json(), indent=1), random, read_plan, PlanError)


def _script(random: Random) -> str:
    scenario = random.choice(all_scenarios())
    return _read(scenario.text, random, read_scenario, ScenarioError)


def _read(text: str, random: Random, read: Callable[[Path], Any], refusal: type[Exception]) -> str:
    lines = [line.encode() + b"\n" for line in text.splitlines()]
    data = HOW[random.choice(sorted(HOW))](lines, random)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(data)
        try:
            read(path)
        except refusal:
            return "refused"
    return "read"


def _flipped(lines: Sequence[bytes], random: Random) -> bytes:
    data = bytearray(b"".join(lines))
    for _ in range(random.randrange(1, 4)):
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    return bytes(data)


def _cut(lines: Sequence[bytes], random: Random) -> bytes:
    data = b"".join(lines)
    return data[: random.randrange(len(data))]


def _cut_at_a_line(lines: Sequence[bytes], random: Random) -> bytes:
    return b"".join(lines[: random.randrange(len(lines))])


def _dropped(lines: Sequence[bytes], random: Random) -> bytes:
    gone = {random.randrange(len(lines)) for _ in range(random.randrange(1, 20))}
    return b"".join(line for place, line in enumerate(lines) if place not in gone)


def _without_a_kind(lines: Sequence[bytes], random: Random) -> bytes:
    word = random.choice(_KINDS)
    return b"".join(line for line in lines if word not in line)


def _doubled(lines: Sequence[bytes], random: Random) -> bytes:
    place = random.randrange(len(lines))
    return b"".join([*lines[:place], lines[place], *lines[place:]])


def _swapped(lines: Sequence[bytes], random: Random) -> bytes:
    found = list(lines)
    one, other = random.randrange(len(found)), random.randrange(len(found))
    found[one], found[other] = found[other], found[one]
    return b"".join(found)


def _retyped(lines: Sequence[bytes], random: Random) -> bytes:
    """One value somewhere, of another type."""
    found = list(lines)
    place = random.randrange(len(found))
    try:
        entry = json.loads(found[place])
    except ValueError:
        return _flipped(lines, random)
    if not isinstance(entry, dict):
        return _swapped(lines, random)
    _spoil(entry, random)
    found[place] = json.dumps(entry, ensure_ascii=True).encode() + b"\n"
    return b"".join(found)


def _spoil(value: Any, random: Random) -> None:
    places = list(value) if isinstance(value, dict) else list(range(len(value)))
    if not places:
        return
    place = random.choice(places)
    if isinstance(value[place], (dict, list)) and value[place] and random.random() < 0.6:
        _spoil(value[place], random)
    elif isinstance(value, dict) and random.random() < 0.2:
        del value[place]
    else:
        value[place] = random.choice(_ODD)


def _nested(lines: Sequence[bytes], random: Random) -> bytes:
    found = list(lines)
    deep = random.choice([40, 1_000, 100_000])
    place = random.randrange(len(found))
    bracket = random.choice([(b"[", b"]"), (b'{"a":', b"}")])
    found[place] = found[place].replace(b":", b":" + bracket[0] * deep + b"1" + bracket[1] * deep + b',"z":', 1)
    return b"".join(found)


def _huge(lines: Sequence[bytes], random: Random) -> bytes:
    """A number somewhere becomes a giant."""
    found = list(lines)
    place = random.randrange(len(found))
    digits = [at for at, byte in enumerate(found[place]) if chr(byte).isdigit()]
    if digits:
        at = random.choice(digits)
        giant = random.choice([b"9" * 18, b"3000000000", b"9" * 40, b"9" * 6_000])
        found[place] = found[place][:at] + giant + found[place][at + 1 :]
    return b"".join(found)


HOW: dict[str, Callable[[Sequence[bytes], Random], bytes]] = {
    "flipped": _flipped,
    "cut": _cut,
    "cut at a line": _cut_at_a_line,
    "dropped": _dropped,
    "without a kind": _without_a_kind,
    "doubled": _doubled,
    "swapped": _swapped,
    "retyped": _retyped,
    "nested": _nested,
    "huge": _huge,
}
REMOVES = ("cut", "cut at a line", "dropped", "without a kind")
