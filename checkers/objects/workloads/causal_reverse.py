"""Writes that are seen without those that were acknowledged before they began. Jepsen's ``tests.causal-reverse``.

Operations: ``write`` a value of its own; ``read``, answered with all values that are there. If a value is read, everything that was
ok when its write began must be in that read too. That a read shows all that was ok when *it* began is not asked. With a key before
each value, ``[key, value]`` and ``[key, [values]]`` (Jepsen's ``independent``), each key is judged by itself. Where a value is
written twice, its first write counts, and one that failed does not.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from tidemark.checkers.history.history import Op
from tidemark.checkers.objects.values import Value, identity
from tidemark.checkers.objects.workloads.elements import in_order, listed
from tidemark.checkers.objects.workloads.halves import INVOKE, OK, clients, counted, of_failed, partners
from tidemark.checkers.verdict.result import Result
from tidemark.checkers.verdict.verdict import Json

NAME = "causal-reverse"
SHOWN = 20


def causal_reverse(ops: Sequence[Op]) -> Result:
    """Judge a history of writes and reads of all that was written.

    Raises:
        ValueError: a read answers with no list.
    """
    halves = clients(ops)
    keyed, other = _keyed(halves), partners(halves)
    registers: dict[Hashable, _Seen] = {}
    errors: list[dict[str, Json]] = []
    reads = 0
    for index, op in enumerate(halves):
        if op.f not in ("write", "read") or op.type not in (INVOKE, OK) or of_failed(halves, other, index):
            continue
        key, value = op.value if keyed else (None, op.value)
        seen = registers.setdefault(identity(key), _Seen())
        if op.f == "write":
            seen.begin(value) if op.type == INVOKE else seen.end(value)
        elif op.type == OK:
            reads += 1
            wrong = seen.read(listed(value, "a read", index))
            if wrong:
                errors.append({"process": op.process, "time": op.time, "key": key, **wrong})
    evidence: dict[str, Json] = {"read_count": reads, "error_count": len(errors), "errors": errors[:SHOWN]}
    if errors:
        first = errors[0]
        if first["never_written"]:
            message = f"{first['process']} read {first['never_written'][0]}, which nobody wrote"
        else:
            message = f"{first['process']} read {first['later']} and not {first['missing'][0]}, which was ok before that was begun"
        return Result(
            NAME, "invalid", f"{message}; {counted(len(errors), 'read')} of {reads} like that", None, evidence
        )
    if not reads:
        return Result(NAME, "unknown", "no reads", "no read was ok", evidence)
    return Result(NAME, "valid", f"{counted(reads, 'read')} with all that came before what they have", None, evidence)


def _keyed(halves: Sequence[Op]) -> bool:
    writes = [op.value for op in halves if op.f == "write"]
    reads = [op.value for op in halves if op.f == "read" and op.type == OK]
    pairs = all(isinstance(one, (list, tuple)) and len(one) == 2 for one in [*writes, *reads])
    return pairs and all(isinstance(one[1], (list, tuple, set, frozenset)) for one in reads) and bool(writes)


class _Seen:
    """What was written under one key."""

    def __init__(self) -> None:
        self._ended: dict[Hashable, int] = {}
        self._order: list[Value] = []
        self._before: dict[Hashable, int] = {}

    def begin(self, value: Value) -> None:
        self._before.setdefault(identity(value), len(self._order))

    def end(self, value: Value) -> None:
        if self._ended.setdefault(identity(value), len(self._order)) == len(self._order):
            self._order.append(value)

    def read(self, values: Sequence[Value]) -> dict[str, Any]:
        """What is wrong with a read; empty if nothing is."""
        there = {identity(value): value for value in values}
        unknown = [value for name, value in there.items() if name not in self._before]
        latest = max((name for name in there if name in self._before), key=self._before.__getitem__, default=None)
        expected = 0 if latest is None else self._before[latest]
        never = len(self._order)
        if not unknown and sum(self._ended.get(name, never) < expected for name in there) == expected:
            return {}
        missing = [value for value in self._order[:expected] if identity(value) not in there]
        told = {"missing": in_order(missing), "expected_count": expected, "never_written": in_order(unknown)}
        return told | {"later": None if latest is None else there[latest]}
