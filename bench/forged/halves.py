"""Halves of operations as the forger has them, and as files: JSON lines, or Jepsen's EDN."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple


class Name(NamedTuple):
    """A keyword of EDN."""

    name: str


class At(NamedTuple):
    """A record with its offset, which may not be known."""

    offset: int | None
    value: Any


@dataclass
class Half:
    """One half of an operation; `time` in µs.

    In a log's history `value` is a list of micro-operations: ``["send", key, value or At]`` and ``["poll", [[key, [At, …]], …]]``,
    or the keys of an assignment.
    """

    time: int
    process: int
    type: str
    f: str
    value: Any
    final: bool = False
    error: str | None = None


def as_lines(halves: Iterable[Half], random: Random) -> bytes:
    """JSON lines; now and then each client's lines follow those of another."""
    found = list(halves)
    if random.random() < 0.3:
        found.sort(key=lambda half: half.process)
    lines = []
    for half in found:
        line = {"kind": "op", "time": half.time, "process": f"c{half.process}", "type": half.type, "f": half.f}
        line["value"] = _plain(half.value)
        if half.final:
            line["final"] = True
        if half.error:
            line["error"] = half.error
        lines.append(json.dumps(line))
    return "\n".join(lines).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, list) and value[:1] == ["poll"] and len(value) == 2:
        return ["poll", {key: _plain(records) for key, records in value[1]}]
    return [_plain(one) for one in value] if isinstance(value, (list, tuple)) else value


def as_edn(halves: Iterable[Half]) -> bytes:
    """A map a line, in the order of events."""
    lines = []
    for half in halves:
        fields = f":type :{half.type}, :process {half.process}, :f :{half.f}, :value {_edn(half.value)}"
        rest = (", :final? true" if half.final else "") + (f', :error ["{half.error}"]' if half.error else "")
        lines.append(f"{{{fields}, :time {1000 * half.time}{rest}}}")
    return "\n".join(lines).encode()


def _edn(value: Any) -> str:
    if isinstance(value, Name):
        return f":{value.name}"
    if isinstance(value, list) and value[:1] == ["poll"]:
        records = ", ".join(f"{_edn(key)} {_edn(found)}" for key, found in (value[1] if len(value) > 1 else []))
        return f"[:poll {{{records}}}]"
    if isinstance(value, list) and value[:1] == ["send"]:
        return f"[:send {_edn(value[1])} {_edn(value[2])}]"
    if isinstance(value, (list, tuple)):
        return f"[{' '.join(_edn(one) for one in value)}]"
    return "nil" if value is None else json.dumps(value)
