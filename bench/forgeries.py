"""Histories of invalid runs that somebody cut off, or forged: none may be `valid` against what is left of it.

A *cut* is the file up to a line, or into its middle: never `valid`, as every line has its number and the first says how many there
are. A *forgery* has new numbers: the trace is gone, or that of a broker, or lines are, or the meta line promises something else, or
final polls are called ordinary ones, or contain less. It may be `valid` where nothing that is left contradicts that: what a count
of its own finds to be gone, in the last leaders' final logs or by the final reads, must be told as permitted, deleted, or unknown,
and where no replica speaks the verdict must say that it rests on the clients alone.

    python -m bench forgeries          # sampled: some minutes
    python -m bench forgeries:all      # after every line of every run: hours
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from random import Random
from typing import Any

from tidemark.checkers import History, HistoryFormatError, Op, check, parse_history
from tidemark.checkers.history.history_file import history_lines
from tidemark.checkers.verdict.verdict import CLIENTS, Verdict
from tidemark.harness.simulator import simulate
from tidemark.nemesis import generate_plan
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.families import parse_variant

RUNS = 40
FROM = (
    ("kafka-0.10", "intact"),
    ("kafka-0.11", "intact"),
    ("kafka-2.0", "destructive"),
    ("quorum-hwm", "intact"),
    ("reconciliation", "destructive"),
    ("raft+commit-any-term", "destructive"),
    ("kafka-0.10", "retention-destructive"),
    ("kafka-2.7", "destructive"),
)
SAMPLED = 24
"""So many cuts of a run are spread evenly; the first and the last `ENDS` are always among them."""
ENDS = 12
FORGED = 6
"""So many of each kind of forgery that draws lots are made of a run."""

CHANGES: tuple[tuple[str, Any], ...] = (
    ("contract", "durable"),
    ("contract", "documented"),
    ("contract", "kip-966"),
    ("contract_alone", True),
    ("read_back", False),
    ("read_back", True),
    ("acks", "1"),
    ("min_isr", 3),
    ("unclean_election", True),
    ("isr", False),
    ("replicas", {}),
    ("faults", 0),
)
"""What a forged meta line says."""


def main(how: str = "") -> None:
    """Cut and forge, judge, count."""
    started, found = time.monotonic(), Counter[str]()
    runs = list(invalid_runs(RUNS))
    kinds = Counter(name for name, _ in runs)
    print(f"{len(runs)} invalid runs: {', '.join(f'{name} {number}' for name, number in sorted(kinds.items()))}")
    for name, history in runs:
        lines = [line.encode() + b"\n" for line in history_lines(history)]
        for cut, text in cuts(lines, every=how == "all"):
            valid = judged(text).valid
            found[f"cut: {valid}"] += 1
            if valid == "valid":
                print(f"{name}, cut {cut}: valid", file=sys.stderr)
        for forgery, forged in forgeries(history):
            verdict = read_and_judged(forged)
            if verdict is None:
                found[f"{forgery}: refused"] += 1
                continue
            wrong = contradicted(forged, verdict)
            found[f"{forgery}: {'WRONG' if wrong else verdict.valid}"] += 1
            if wrong:
                print(f"{name}, {forgery}: {wrong}", file=sys.stderr)
    for told, number in sorted(found.items()):
        print(f"{told:<40}{number:>8}")
    print(f"{found.total()} histories in {time.monotonic() - started:.0f} s")


def invalid_runs(wanted: int, seed: int = 28) -> Iterator[tuple[str, History]]:
    """So many runs that break their promise, of several variants and profiles, the same every time."""
    found = 0
    for index in count():
        for variant, profile in FROM:
            if found == wanted:
                return
            plan = generate_plan(seed, index, profile, ClusterSpec())
            history = simulate(plan, parse_variant(variant)).history
            if check(history).valid == "invalid":
                found += 1
                yield variant, history


def cuts(lines: list[bytes], *, every: bool) -> Iterator[tuple[int, bytes]]:
    """The file up to a line, and up to the middle of the next; not the whole file."""
    last = len(lines)
    chosen = set(range(1, last))
    if not every:
        chosen &= {*range(ENDS), *range(0, last, max(last // SAMPLED, 1)), *range(last - ENDS, last)}
    for line in sorted(chosen):
        whole = b"".join(lines[:line])
        yield line, whole
        yield line, whole + lines[line][: len(lines[line]) // 2]


def judged(text: bytes) -> Verdict:
    """The verdict of a file that was cut off."""
    return check(parse_history(text.splitlines(keepends=True), allow_torn_tail=True))


def read_and_judged(history: History) -> Verdict | None:
    """The verdict of a file with this history, which says that it is whole; None if it is refused."""
    try:
        return check(parse_history([line.encode() + b"\n" for line in history_lines(history)]))
    except HistoryFormatError:
        return None


def forgeries(history: History) -> Iterator[tuple[str, History]]:
    """What somebody made of a history, by kinds."""
    random = Random(len(history.ops))
    yield "no trace", replace(history, trace=[])
    silent = {name: value for name, value in history.meta.items() if name not in ("replicas", "lines")}
    yield "no trace, no replicas named", replace(history, trace=[], meta=silent)
    yield "no final polls", replace(history, ops=[op for op in history.ops if not op.final])
    yield "final polls as ordinary ones", replace(history, ops=[op._replace(final=False) for op in history.ops])
    for name, value in CHANGES:
        yield f"meta: {name}", replace(history, meta={**history.meta, name: value})
        yield f"no trace, meta: {name}", replace(history, trace=[], meta={**silent, name: value})
    for node in sorted({event[1] for event in history.trace}):
        yield "no trace of a broker", replace(history, trace=[event for event in history.trace if event[1] != node])
    for kind in sorted({event[2] for event in history.trace}):
        yield "no trace of a kind", replace(history, trace=[event for event in history.trace if event[2] != kind])
    for _ in range(FORGED):
        yield "lines gone", replace(history, ops=_some(history.ops, random), trace=_some(history.trace, random))
        at = random.choice(history.ops).time
        ops, trace = [op for op in history.ops if op.time <= at], [event for event in history.trace if event[0] <= at]
        yield "the end is gone", replace(history, ops=ops, trace=trace)
        yield "the end is gone, and the trace", replace(history, ops=ops, trace=[], meta=silent)
        yield "final polls with less", replace(history, ops=[_with_less(op, random) for op in history.ops])


def _some(entries: list[Any], random: Random) -> list[Any]:
    gone = set(random.sample(range(len(entries)), min(len(entries), random.choice((1, 5, 50)))))
    return [entry for place, entry in enumerate(entries) if place not in gone]


def _with_less(op: Op, random: Random) -> Op:
    if not op.final or op.type != "ok" or random.random() < 0.5:
        return op
    less = tuple(
        (name, {key: records[: random.randrange(len(records) + 1)] for key, records in answer.items()})
        for name, answer in op.value
    )
    return op._replace(value=less)


def contradicted(history: History, verdict: Verdict) -> str:
    """Why a verdict may not stand, by a count of its own; empty if it may."""
    if verdict.valid != "valid":
        return ""
    if not history.trace and verdict.judged_from != CLIENTS:
        return "it rests on replicas, and there are none"
    gone, stats = _gone(history), verdict.stats
    told = stats["acked_lost_permitted"] + stats["acked_deleted"] + stats["acked_unknown"]
    return f"{len(gone)} are gone, and it tells of {told}: {json.dumps(sorted(gone)[:5])}" if len(gone) > told else ""


def _gone(history: History) -> set[tuple[str, int]]:
    """The records acknowledged under acks=all that final polls do not show, and those that the last leader's final log lacks."""
    final = [op for op in history.ops if op.final and op.type == "ok"]
    acked: dict[tuple[str, int], int] = {}
    for op in history.ops:
        if op.f == "send" and op.type == "ok" and op.acks == "all":
            acked |= {(key, record[1]): op.time for _, key, record in op.value if (key, record[1]) not in acked}
    deleted: Counter[str] = Counter()
    for event in history.trace:
        if event[2] == "log-start" and event[6] in ("delete-records", "retention"):
            deleted[event[3]] = max(deleted[event[3]], event[4])
    found: set[tuple[str, int]] = set()
    shown = {
        (key, value)
        for op in final
        for _, answer in op.value
        for key, records in answer.items()
        for _, value in records
    }
    if final and history.meta.get("read_back"):
        found |= {record for record, when in acked.items() if when < final[0].time} - shown
    leaders = {event[3]: event for event in history.trace if event[2] == "final" and event[4] == "leader"}
    for key, leader in leaders.items():
        there = {(key, value) for _, _, values in leader[9] for value in values}
        found |= {record for record in acked if record[0] == key} - there
    return {record for record in found if not deleted[record[0]]}
