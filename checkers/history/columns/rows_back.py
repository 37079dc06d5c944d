"""Columns turned back into operations, one by one. Polls of one operation that follow each other come back as one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tidemark.checkers.history.columns.columns import ACKS, DELETION, KEPT, NOTHING, READ, SEND, TYPES, UNKNOWN, Columns
from tidemark.checkers.history.history import Op


def ops_of(columns: Columns) -> Iterator[Op]:
    """The operations, in order."""
    row, rows = 0, len(columns.row_half)
    for half in range(len(columns)):
        begin = row
        while row < rows and columns.row_half[row] == half:
            row += 1
        error = columns.errors[columns.error[half]]
        acks, final = ACKS[columns.acks[half]], bool(columns.final[half])
        process, f = columns.processes[columns.process[half]], columns.fs[columns.f[half]]
        type_ = TYPES[columns.type[half]]
        value = _micros(columns, begin, row, f, type_)
        yield Op(int(columns.time[half]), process, type_, f, value, error, acks, final)


def _micros(columns: Columns, begin: int, end: int, f: str, type_: str) -> Any:  # noqa: ANN401 - as Op has it
    micros: list[Any] = []
    for row in range(begin, end):
        kind, key = columns.row_kind[row], columns.keys[columns.row_key[row]]
        offset = int(columns.row_offset[row])
        value = columns.value(int(columns.row_value[row]))
        if kind == SEND:
            what = value if type_ != "ok" and offset == UNKNOWN else (None if offset == UNKNOWN else offset, value)
            micros.append(("send", key, what))
        elif kind in (READ, NOTHING):
            if not micros or micros[-1][0] != "poll":
                micros.append(("poll", {}))
            records = micros[-1][1].setdefault(key, [])
            if kind == READ:
                records.append((None if offset == UNKNOWN else offset, value))
        elif kind == KEPT:
            micros.append(key)
        elif kind == DELETION:
            micros.append(("delete", key, offset))
    if f == "poll" and not micros:
        micros.append(("poll", {}))
    return tuple(micros)
