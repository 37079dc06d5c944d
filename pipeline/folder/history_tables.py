"""A history of any size as Arrow tables, some thousand rows at a time; `tidemark.pipeline.folder.stored_history` reads them back.

What the columns of a long history hold comes back row for row: of operations with several polls in the order in which they were
polled, and keys that were assigned anew while an operation lasted (Jepsen's rebalance log) as ``["rebalanced", key]`` at the end of
its value.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from tidemark.checkers.history.columns import columns as coded
from tidemark.pipeline.folder.stored_history import IS_REBALANCED, NEMESIS, NEMESIS_ACTIONS
from tidemark.pipeline.folder.tables import OPS, TRACE

if TYPE_CHECKING:
    from tidemark.checkers.history.history import History

BATCH_ROWS: Final = 1 << 16
Row = tuple[Any, ...]
_encode = json.JSONEncoder(separators=(",", ":"), default=str).encode


class UnstorableError(ValueError):
    """The history has something that the tables cannot hold; the text is one sentence."""


def ops_table(plan: int, history: History) -> pa.Table:
    """The operations of clients and nemesis, in order of time; the nemesis comes first at equal times.

    Raises:
        UnstorableError: See there.
    """
    clients = _of_ops(history) if history.columns is None else _of_columns(history.columns)
    rows = heapq.merge(_of_nemesis(history), clients, key=lambda row: row[0])
    return _table(((plan, seq, *row) for seq, row in zip(count(), rows, strict=False)), OPS)


def trace_table(plan: int, history: History) -> pa.Table:
    """The replicas' trace, in its order.

    Raises:
        UnstorableError: See there.
    """
    rows = (
        (plan, seq, time, node, event, partition, _encode(fields))
        for seq, (time, node, event, partition, *fields) in enumerate(history.trace)
    )
    return _table(rows, TRACE)


def _table(rows: Iterator[Row], schema: pa.Schema) -> pa.Table:
    batches = []
    try:
        while batch := list(islice(rows, BATCH_ROWS)):
            columns = zip(*batch, strict=True)
            arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
            batches.append(pa.RecordBatch.from_arrays(arrays, schema=schema))
    except (pa.ArrowException, OverflowError) as error:
        raise UnstorableError(f"it cannot be stored ({str(error).strip().splitlines()[0]})") from None
    return pa.Table.from_batches(batches, schema=schema)


def _of_nemesis(history: History) -> Iterator[Row]:
    for time, action, index, kind, detail in sorted(history.nemesis, key=lambda one: one[0]):
        value = _encode({"index": index, "kind": kind, "detail": detail})
        yield time, NEMESIS, "info", action, value, None, None, None


def _of_ops(history: History) -> Iterator[Row]:
    for op in sorted(history.ops, key=lambda op: op.time):
        yield op.time, _process(op.process, op.f), op.type, op.f, _encode(op.value), op.error, op.acks, op.final


def _of_columns(columns: coded.Columns) -> Iterator[Row]:
    for first in range(0, len(columns), BATCH_ROWS):
        stop = min(first + BATCH_ROWS, len(columns))
        values = _values(columns, first, stop)
        halves = (
            getattr(columns, name)[first:stop].tolist()
            for name in ("time", "process", "type", "f", "error", "acks", "final")
        )
        for value, time, process, type_, f, error, acks, final in zip(values, *halves, strict=True):
            whose = _process(columns.processes[process], columns.fs[f])
            told = _encode(value or [("poll", {})] if f == coded.F_POLL else value)
            yield (
                time,
                whose,
                coded.TYPES[type_],
                columns.fs[f],
                told,
                columns.errors[error],
                coded.ACKS[acks],
                bool(final),
            )


def _process(name: str | int, f: str) -> str:
    if name == NEMESIS and f in NEMESIS_ACTIONS:
        raise UnstorableError(f"it has a client called {NEMESIS} that does a {f}, which could not be told from a fault")
    return str(name)


def _values(columns: coded.Columns, first: int, stop: int) -> list[list[Any]]:
    """What each of some halves says of records and keys."""
    found: list[list[Any]] = [[] for _ in range(stop - first)]
    begin, end = np.searchsorted(columns.row_half, (first, stop))
    ok = (columns.type[columns.row_half[begin:end]] == coded.OK).tolist()
    rows: Iterable[Sequence[int]] = zip(
        columns.row_half[begin:end].tolist(),
        columns.row_kind[begin:end].tolist(),
        columns.row_key[begin:end].tolist(),
        columns.row_offset[begin:end].tolist(),
        columns.row_value[begin:end].tolist(),
        ok,
        strict=True,
    )
    for half, kind, number, place, value, is_ok in rows:
        mine, key = found[half - first], columns.keys[number]
        offset = None if place == coded.UNKNOWN else place
        if kind == coded.SEND:
            sent = columns.value(value)
            mine.append(("send", key, (offset, sent) if is_ok or offset is not None else sent))
        elif kind in (coded.READ, coded.NOTHING):
            if not mine or mine[-1][0] != "poll" or _is_another_poll(mine[-1][1], key, kind):
                mine.append(("poll", {}))
            records = mine[-1][1].setdefault(key, [])
            if kind == coded.READ:
                records.append((offset, columns.value(value)))
        elif kind == coded.KEPT:
            mine.append(key)
        elif kind == coded.DELETION:
            mine.append(("delete", key, place))
        elif kind == coded.REBALANCED:
            mine.append((IS_REBALANCED, key))
    return found


def _is_another_poll(answer: dict[str, list[Any]], key: str, kind: int) -> bool:
    """Whether a row cannot belong to the answer so far: its key had nothing, has nothing now, or others came in between."""
    return key in answer and (kind == coded.NOTHING or not answer[key] or next(reversed(answer)) != key)
