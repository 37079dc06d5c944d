"""Reads that see two writes in different orders: one has the first and lacks the second, another the reverse. Jepsen's
``tests.long-fork``.

Operations are transactions: a write of one key, ``[["w", key, value]]``, each key once; and reads of a group of keys,
``[["r", key, value], …]``, null where nothing was written. Reads of the same keys have to be in one line: of any two the one has
all that the other has. Sorted by how much they have, each is compared with the next, where Jepsen compares all pairs. What a failed
write would have written, nobody wrote.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import Any

from tidemark.checkers.history.history import Op
from tidemark.checkers.objects.values import Value, identity
from tidemark.checkers.objects.workloads.halves import INVOKE, OK, clients, counted, of_failed, partners
from tidemark.checkers.verdict.result import Result
from tidemark.checkers.verdict.verdict import Json

NAME = "long-fork"
SHOWN = 20


def long_fork(ops: Sequence[Op]) -> Result:
    """Judge a history of writes, each of a key of its own, and reads of groups.

    Raises:
        ValueError: an operation is neither.
    """
    written: dict[Hashable, Hashable] = {}
    twice: list[Value] = []
    reads: list[tuple[Op, dict[Hashable, Value]]] = []
    halves = clients(ops)
    other = partners(halves)
    for index, op in enumerate(halves):
        if op.type not in (INVOKE, OK) or of_failed(halves, other, index):
            continue
        micros = _micros(op, index)
        if op.type == INVOKE and len(micros) == 1 and micros[0][0] == "w":
            _, key, value = micros[0]
            if identity(key) in written:
                twice.append(key)
            written[identity(key)] = identity(value)
        elif op.type == OK and all(f == "r" for f, *_ in micros):
            reads.append((op, {identity(key): value for _, key, value in micros}))
    forks, unwritten = _forks(reads), _unwritten(reads, written)
    nils = [sum(value is None for value in read.values()) for _, read in reads]
    evidence: dict[str, Json] = {
        "reads_count": len(reads),
        "early_read_count": sum(nil == len(read) for nil, (_, read) in zip(nils, reads, strict=True)),
        "late_read_count": sum(not nil for nil in nils),
        "fork_count": len(forks),
        "forks": [[_told(one), _told(other)] for one, other in forks[:SHOWN]],
        "never_written": [_told(op) for op in unwritten[:SHOWN]],
    }
    if twice:
        because = f"key {twice[0]} was written more than once, and nothing can be said about reads of it"
        return Result(NAME, "unknown", counted(len(reads), "read"), because, evidence)
    if unwritten:
        return Result(
            NAME, "invalid", f"{unwritten[0].process} read what nobody wrote: {_plain(unwritten[0])}", None, evidence
        )
    if forks:
        one, another = forks[0]
        message = f"{one.process} read {_plain(one)}, and {another.process} read {_plain(another)}: each has what the other lacks"
        return Result(NAME, "invalid", message, None, evidence)
    if not reads:
        return Result(NAME, "unknown", "no reads", "no read was ok", evidence)
    return Result(NAME, "valid", f"{counted(len(reads), 'read')} in one line", None, evidence)


def _micros(op: Op, index: int) -> list[tuple[Any, Value, Value]]:
    if isinstance(op.value, (list, tuple)) and all(
        isinstance(one, (list, tuple)) and len(one) == 3 for one in op.value
    ):
        micros: list[tuple[Any, Value, Value]] = [tuple(one) for one in op.value]
        if (len(micros) == 1 and micros[0][0] == "w") or all(f == "r" for f, *_ in micros):
            return micros
    raise ValueError(
        f'operation {index}: it writes one key, [["w", key, value]], or only reads, and is {op.value!r:.60}'
    )


def _forks(reads: Sequence[tuple[Op, dict[Hashable, Value]]]) -> list[tuple[Op, Op]]:
    groups: dict[frozenset[Hashable], list[tuple[Op, frozenset[Hashable]]]] = {}
    for op, read in reads:
        seen = frozenset(key for key, value in read.items() if value is not None)
        groups.setdefault(frozenset(read), []).append((op, seen))
    forks = []
    for group in groups.values():
        group.sort(key=lambda one: len(one[1]))
        forks += [(one, other) for (one, seen), (other, more) in pairwise(group) if not seen <= more]
    return forks


def _unwritten(reads: Sequence[tuple[Op, dict[Hashable, Value]]], written: dict[Hashable, Hashable]) -> list[Op]:
    missing = object()
    return [
        op
        for op, read in reads
        if any(value is not None and written.get(key, missing) != identity(value) for key, value in read.items())
    ]


def _told(op: Op) -> dict[str, Json]:
    return {"process": op.process, "time": op.time, "value": op.value}


def _plain(op: Op) -> str:
    return ", ".join(f"{key} = {'nothing' if value is None else value}" for _, key, value in op.value)
