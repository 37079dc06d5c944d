"""The histories of a chunk's kept runs, read back from its files: what `tidemark.pipeline.chunks.rows` wrote, turned round.

A chunk's rows are in order of plan, and of a plan in its own order. They are read some thousand at a time, so that of a chunk no
more is in memory than the run that is wanted. Nothing is asked of their shape: whoever stored a history had one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tidemark.checkers.history.columns.builder import ColumnsBuilder
from tidemark.checkers.history.history import History, NemesisOp, Op
from tidemark.checkers.history.trace_events import TraceEvent

BATCH_ROWS: Final = 1 << 14
IMPORTED_FROM: Final = "imported_from"
"""In the column `meta` of an imported run, beside what its meta line has: the path of its file, or of its run's folder."""
NUMBERED_PROCESSES: Final = "numbered_processes"
"""Likewise, and true: its processes are integers, as Jepsen's are, whose column is text."""
CUT_OFF: Final = "cut_off"
GAPS: Final = "gaps"
"""Likewise, of a run whose history is not whole: why."""
OUR_OWN: Final = (IMPORTED_FROM, NUMBERED_PROCESSES, CUT_OFF, GAPS)
"""What of `meta` is no entry of a meta line."""
NEMESIS: Final = "nemesis"
NEMESIS_ACTIONS: Final = ("strike", "heal")
IS_REBALANCED: Final = "rebalanced"
"""Begins an entry at the end of an operation's value that names a key which was assigned anew meanwhile; only imported histories
have them (`tidemark.pipeline.folder.history_tables`)."""
_OPS: Final = ("time_us", "process", "type", "f", "value", "error", "acks", "final")
_TRACE: Final = ("time_us", "node", "event", "partition", "fields")
_NAMES: Final = ("process", "type", "f", "acks", "event", "partition")
"""Columns of few different words, which are read once each."""

Rows: TypeAlias = Iterator[tuple[Any, ...]]


def stored_histories(
    ops: Path, trace: Path, metas: Mapping[int, str], *, rows: bool = False
) -> Iterator[tuple[int, History]]:
    """The histories of some plans, in order of plan.

    Args:
        ops: The chunk's file of that table.
        trace: And of this one.
        metas: Of the plans that are wanted the column `meta` of `runs`.
        rows: Each operation in `History.ops`, also of runs without a trace, whose operations are else put into columns.

    Raises:
        OSError, pa.ArrowException, ValueError: A file is not what a chunk wrote.
    """
    operations, events = _Plans(ops, _OPS), _Plans(trace, _TRACE)
    for plan in sorted(metas):
        meta = json.loads(metas[plan])
        meta.pop(IMPORTED_FROM, None)
        numbered = meta.pop(NUMBERED_PROCESSES, False)
        history = History(meta, cut_off=meta.pop(CUT_OFF, ""), gaps=meta.pop(GAPS, ""))
        history.trace = list(_events(events.of(plan)))
        told = _operations(operations.of(plan), history.nemesis, numbered=numbered)
        if history.trace or rows:
            history.ops = [op for op, _ in told]
        else:
            builder = ColumnsBuilder()
            for op, rebalanced in told:
                builder.add(op, rebalanced)
            history.columns = builder.columns().in_time()
        yield plan, history


class _Plans:
    """The rows of a file by plan. Plans must be asked for in rising order."""

    def __init__(self, path: Path, columns: tuple[str, ...]) -> None:
        self._pieces = _pieces(path, columns)
        self._next = next(self._pieces, None)

    def of(self, plan: int) -> Rows:
        """The rows of one, none if it has none."""
        while self._next is not None and self._next[0] <= plan:
            here, rows = self._next
            if here == plan:
                yield from rows
            self._next = next(self._pieces, None)


def _pieces(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[int, Iterable[tuple[Any, ...]]]]:
    """Rows of the same plan that follow each other in a batch, with the plan."""
    with pq.ParquetFile(path, read_dictionary=[name for name in columns if name in _NAMES]) as file:
        for batch in file.iter_batches(BATCH_ROWS, columns=["plan", *columns]):
            plans = batch.column("plan").to_numpy()
            values = [_values(batch.column(name), name) for name in columns]
            begin = 0
            for end in (*(np.flatnonzero(np.diff(plans)) + 1).tolist(), len(plans)):
                if end > begin:
                    yield int(plans[begin]), zip(*(column[begin:end] for column in values), strict=True)
                begin = end


def _values(column: pa.Array, name: str) -> list[Any]:
    """A column's values; those that are JSON are read, a batch at once."""
    if name in ("value", "fields"):
        texts = ["null" if text is None else text for text in column.to_pylist()]
        found: list[Any] = json.loads(f"[{','.join(texts)}]")
        return found
    if isinstance(column, pa.DictionaryArray):
        words = column.dictionary.to_pylist()
        return [None if number is None else words[number] for number in column.indices.to_pylist()]
    plain: list[Any] = column.to_pylist()
    return plain


def _operations(rows: Rows, nemesis: list[NemesisOp], *, numbered: bool) -> Iterator[tuple[Op, Sequence[str]]]:
    """What the clients did, with the keys that were assigned anew meanwhile; the nemesis's rows go where they belong."""
    for time, process, type_, f, told, error, acks, final in rows:
        if process == NEMESIS and f in NEMESIS_ACTIONS:
            nemesis.append((time, f, told["index"], told["kind"], _tuples(told["detail"])))
            continue
        value, rebalanced = _tuples(told), ()
        if value.__class__ is tuple and value and _is_rebalanced(value[-1]):
            begin = next(place for place, one in enumerate(value) if _is_rebalanced(one))
            value, rebalanced = value[:begin], tuple(key for _, key in value[begin:])
        whose: Any = int(process) if numbered else process
        yield Op(time, whose, type_, f, value, error, acks, bool(final)), rebalanced


def _is_rebalanced(entry: object) -> bool:
    return entry.__class__ is tuple and entry[:1] == (IS_REBALANCED,)


def _events(rows: Rows) -> Iterator[TraceEvent]:
    for time, node, event, partition, fields in rows:
        yield (time, node, event, partition, *[_tuples(v) if v.__class__ is list else v for v in fields])


def _tuples(value: Any) -> Any:  # noqa: ANN401  whatever JSON has
    """Arrays as tuples; an array that is the value of an object stays a list, as `tidemark.checkers.history.history_file` has
    it.
    """
    if value.__class__ is list:
        return tuple([_tuples(one) if one.__class__ in (list, dict) else one for one in value])
    if value.__class__ is dict:
        return {
            key: [_tuples(one) for one in item] if item.__class__ is list else _tuples(item)
            for key, item in value.items()
        }
    return value
