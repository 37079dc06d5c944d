"""`history.jsonl`: a history as one JSON object a line.

The first line is the meta line; the rest is in order of time, and at equal times trace before nemesis before
operations, so the same history is always the same bytes. Every line has its number, and the meta line says how many there are, so
that what is missing is seen (`LineCount`). Arrays become tuples when read, except where
``docs/history.md`` has lists: the records of a poll, and everything inside `meta` and the detail of a nemesis
operation, which are plain JSON.

Trace events are written with their fields by name; an event that `TRACE_FIELDS` does not know keeps its fields
in ``"fields"``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

from checkers.history import TRACE_FIELDS, History, NemesisOp, Op, TraceEvent
from checkers.line_count import LineCount

Json = Any
"""What `json.loads` gives, or the same with tuples for arrays."""

_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


class HistoryFormatError(ValueError):
    """A line of a history file is not what ``docs/history.md`` says; `line` counts from 1."""

    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(f"line {line}: {sentence}")
        self.line = line
        self.sentence = sentence


def write_history(history: History, path: str | Path) -> None:
    """Write `history` to `path`, always the same bytes for the same history: whole, or not at all.

    It is written beside its place and renamed when it is there, so that a full disk or a kill leaves what was there before.

    Raises:
        OSError: it cannot be written.
    """
    place = Path(path).resolve()
    if place.exists() and not place.is_file():
        _write(history, place)
        return
    new = place.with_name(f".{place.name}.{os.getpid()}.new")
    try:
        _write(history, new)
        new.replace(place)
    finally:
        new.unlink(missing_ok=True)


def _write(history: History, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(line + "\n" for line in history_lines(history))


def history_lines(history: History) -> Iterator[str]:
    """The lines of the file, without line ends. A history that is not whole does not say how many there must be."""
    whole = not (history.cut_off or history.gaps)
    lines = 1 + len(history.trace) + len(history.nemesis) + len(history.ops)
    yield meta_line(history.meta, lines if whole else None)
    timed: list[tuple[int, Callable[[Any, int], str], Any]] = [(event[0], trace_line, event) for event in history.trace]
    timed += [(op[0], nemesis_line, op) for op in history.nemesis]
    timed += [(op.time, op_line, op) for op in history.ops]
    timed.sort(key=lambda entry: entry[0])
    for number, (_, line, entry) in zip(count(2), timed, strict=False):
        yield line(entry, number)


def meta_line(meta: dict[str, Any], lines: int | None) -> str:
    """The first line of a file of so many lines; None if that is not known yet."""
    total = {} if lines is None else {"lines": lines}
    return _encode({"kind": "meta", "line": 1, **total, **meta})


def op_line(op: Op, number: int) -> str:
    """The line of an operation, which is the `number`-th of its file; the meta line is the first."""
    return _encode({"kind": "op", "line": number, **dict(zip(Op._fields, op, strict=True))})


def nemesis_line(op: NemesisOp, number: int) -> str:
    """The line of a strike or a healing."""
    time, what, index, kind, detail = op
    line = {
        "kind": "nemesis",
        "line": number,
        "time": time,
        "what": what,
        "index": index,
        "fault": kind,
        "detail": detail,
    }
    return _encode(line)


def trace_line(event: TraceEvent, number: int) -> str:
    """The line of a trace event."""
    time, node, name, partition, *rest = event
    line = {"kind": "trace", "line": number, "time": time, "node": node, "event": name, "partition": partition}
    fields = TRACE_FIELDS.get(name)
    if fields is None or len(fields) != len(rest):
        line["fields"] = rest
    else:
        line.update(zip(fields, rest, strict=True))
    return _encode(line)


def read_history(path: str | Path, *, allow_torn_tail: bool = False) -> History:
    """Read a history written by `write_history`, or by anybody who follows the same format.

    Args:
        path: the file.
        allow_torn_tail: take a file whose last line was not written to its end (the run was killed) for a history that was cut
            off; also one of which nothing but that is there.

    Raises:
        HistoryFormatError: with the number of the line and what is wrong with it.
    """
    with Path(path).open(encoding="utf-8", errors="replace") as file:
        return parse_history(file, allow_torn_tail=allow_torn_tail)


def parse_history(lines: Iterable[str], *, allow_torn_tail: bool = False) -> History:
    """The history in `lines`; see `read_history`. A missing meta line means that nothing is known about the run."""
    history = History()
    counted = LineCount()
    torn: HistoryFormatError | None = None
    for number, line in enumerate(lines, start=1):
        if torn is not None:
            raise torn
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except json.JSONDecodeError as error:
            torn = HistoryFormatError(number, f"this is not JSON ({error.msg} at column {error.colno})")
            continue
        if not isinstance(entry, dict):
            raise HistoryFormatError(number, "every line must be a JSON object")
        counted.add(number, entry)
        _add(history, entry, number)
    if torn is not None and not allow_torn_tail:
        raise torn
    history.cut_off, history.gaps = counted.cut_off(torn=torn is not None), counted.gaps
    return history


def _add(history: History, entry: dict[str, Any], number: int) -> None:
    kind = entry.pop("kind", None)
    if kind == "op":
        history.ops.append(_op(entry, number))
    elif kind == "trace":
        history.trace.append(_trace_event(entry, number))
    elif kind == "nemesis":
        needed = ("time", "what", "index", "fault", "detail")
        history.nemesis.append(tuple(_field(entry, name, "a nemesis operation", number) for name in needed))
    elif kind == "meta":
        if number != 1:
            raise HistoryFormatError(number, "the meta line must be the first line")
        history.meta = entry
    else:
        raise HistoryFormatError(number, f'"kind" must be meta, op, nemesis or trace, and is {kind!r}')


def _field(entry: dict[str, Any], name: str, of: str, number: int) -> Json:
    if name not in entry:
        raise HistoryFormatError(number, f'{of} needs the field "{name}"')
    value = entry[name]
    if name == "time" and (not isinstance(value, int) or isinstance(value, bool)):
        raise HistoryFormatError(number, f'"time" must be an integer number of microseconds, and is {value!r}')
    return value


def _op(entry: dict[str, Any], number: int) -> Op:
    time, process, type_, f, value = (_field(entry, name, "an operation", number) for name in Op._fields[:5])
    if type_ not in ("invoke", "ok", "fail", "info"):
        raise HistoryFormatError(number, f"the type of an operation is invoke, ok, fail or info, and not {type_!r}")
    value = _tuples(value)
    if f in ("send", "txn") or (f == "poll" and value is not None):
        _check_micro_operations(value, number)
    elif f == "delete" and not _is_deletion(value):
        raise HistoryFormatError(number, f'the value of a delete is [["delete", key, offset]], and not {value!r}')
    return Op(time, process, type_, f, value, entry.get("error"), entry.get("acks"), bool(entry.get("final", False)))


def _check_micro_operations(value: Json, number: int) -> None:
    if not isinstance(value, tuple):
        raise HistoryFormatError(number, "the value of a send or poll must be a list of micro-operations")
    for micro in value:
        if isinstance(micro, tuple) and len(micro) == 3 and micro[0] == "send":
            pair = micro[2]
            if isinstance(pair, tuple) and len(pair) != 2:
                raise HistoryFormatError(number, f"a send completes with [offset, value], and not with {pair!r}")
        elif isinstance(micro, tuple) and len(micro) == 2 and micro[0] == "poll" and isinstance(micro[1], dict):
            for key, records in micro[1].items():
                if not isinstance(records, list) or not all(_is_read(record) for record in records):
                    raise HistoryFormatError(number, f"a poll of {key} must be a list of [offset, value] pairs")
        else:
            raise HistoryFormatError(number, f'{micro!r} is neither ["send", key, value] nor ["poll", {{…}}]')


def _is_deletion(value: Json) -> bool:
    micro = value[0] if isinstance(value, tuple) and len(value) == 1 else None
    return isinstance(micro, tuple) and len(micro) == 3 and micro[0] == "delete" and isinstance(micro[2], int)


def _is_read(record: Json) -> bool:
    return isinstance(record, tuple) and len(record) == 2 and isinstance(record[0], int)


def _trace_event(entry: dict[str, Any], number: int) -> TraceEvent:
    head = tuple(_field(entry, name, "a trace event", number) for name in ("time", "node", "event", "partition"))
    rest = entry.get("fields")
    if rest is None:
        names = TRACE_FIELDS.get(head[2])
        if names is None:
            raise HistoryFormatError(number, f'{head[2]!r} is not a known trace event and has no "fields"')
        rest = [_field(entry, name, f"the trace event {head[2]}", number) for name in names]
    elif not isinstance(rest, list) or len(rest) != len(TRACE_FIELDS.get(head[2], rest)):
        raise HistoryFormatError(number, f'"fields" does not fit the trace event {head[2]!r}')
    return head + tuple(_tuples(value) for value in rest)


def _tuples(value: Json) -> Json:
    """Arrays as tuples; an array that is the value of an object stays a list (the records of a poll)."""
    if isinstance(value, list):
        return tuple(_tuples(item) for item in value)
    if isinstance(value, dict):
        return {
            key: [_tuples(one) for one in item] if isinstance(item, list) else _tuples(item)
            for key, item in value.items()
        }
    return value
