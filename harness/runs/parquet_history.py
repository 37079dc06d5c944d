"""Client operations in a Parquet file: a row each, with the columns of an ``op`` line.

``time`` (µs), ``process``, ``type``, ``f``, ``value`` (the JSON that an op line has there, as text), and where there are any
``error``, ``acks`` and ``final``. Read by groups of rows. Needs pyarrow.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tidemark.checkers.history.columns.builder import ColumnsBuilder
from tidemark.checkers.history.entry_order import EntryOrder
from tidemark.checkers.history.history import History, Op
from tidemark.checkers.history.history_file import HistoryFormatError, decoded
from tidemark.checkers.history.line_shapes import ShapeError, op_of

_NEEDED = ("time", "process", "type", "f", "value")
_OPTIONAL = ("error", "acks", "final")
_ROWS = 1 << 16


def read_parquet(path: Path, *, rows: bool = False) -> History:
    """The history in a Parquet file; a row's number stands for its line. `rows` has each operation in `History.ops`.

    Raises:
        HistoryFormatError: it is no history.
        OSError: it cannot be read, or there is no pyarrow.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise OSError(0, "Parquet is read with pyarrow, which the extra `campaign` installs") from None
    builder = ColumnsBuilder()
    ops: list[Op] = []
    order = EntryOrder()
    number = 0
    try:
        file = pq.ParquetFile(path)
        there = set(file.schema_arrow.names)
        missing = [name for name in _NEEDED if name not in there]
        if missing:
            raise HistoryFormatError(1, f"there is no column {missing[0]}")
        wanted = [name for name in (*_NEEDED, *_OPTIONAL) if name in there]
        for batch in file.iter_batches(batch_size=_ROWS, columns=wanted):
            for row in batch.to_pylist():
                number += 1
                op = op_of(_entry(row, number))
                order.op(number, op)
                (ops.append if rows else builder.add)(op)
    except ShapeError as error:
        raise HistoryFormatError(number, str(error)) from None
    except (pa.ArrowException, UnicodeDecodeError, OverflowError) as error:
        raise HistoryFormatError(number + 1, f"the file is Parquet, and broken ({error})") from None
    if order.broken is not None:
        raise HistoryFormatError(*order.broken)
    return History(ops=sorted(ops, key=lambda op: op.time)) if rows else History(columns=builder.columns().in_time())


def _entry(row: dict[str, Any], number: int) -> dict[str, Any]:
    try:
        return {**row, "value": None if row["value"] is None else decoded(row["value"])}
    except (TypeError, ValueError, RecursionError) as error:
        raise HistoryFormatError(number, f"its value is no JSON ({error})") from None
