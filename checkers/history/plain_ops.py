"""The lines that long histories consist of, in a short way: half a send of one record, half a poll.

Most lines of most files are these, and reading them piece by piece, ready to say what is wrong, takes three times as long. Whatever
else a line is, or might be, is left to `tidemark.checkers.history.line_shapes`.
"""

from __future__ import annotations

from typing import Any

from tidemark.checkers.history.history import Op

_INT64 = 1 << 63
_TYPES = frozenset({"invoke", "ok", "fail", "info"})
_FIELDS = {"time", "process", "type", "f", "value"}


def plain_op(entry: dict[str, Any]) -> Op | None:
    """Half an operation, from a line's object without its ``kind``; `None` if it is not one of the common shapes.

    >>> plain_op({"time": 5, "process": "p1", "type": "ok", "f": "send", "value": [["send", "t-0", [0, 7]]]}).value
    (('send', 't-0', (0, 7)),)
    >>> plain_op({"time": "5", "process": "p1", "type": "ok", "f": "poll", "value": []}) is None
    True
    """
    if entry.keys() != _FIELDS:
        return None
    time, process, type_, value = entry["time"], entry["process"], entry["type"], entry["value"]
    if time.__class__ is not int or not -_INT64 <= time < _INT64 or process.__class__ is not str:
        return None
    if type_.__class__ is not str or type_ not in _TYPES or value.__class__ is not list or len(value) != 1:
        return None
    micro = value[0]
    if micro.__class__ is not list:
        return None
    f = entry["f"]
    told = _send(micro) if f == "send" else _poll(micro) if f == "poll" else None
    return None if told is None else Op(time, process, type_, f, (told,))


def _send(micro: list[Any]) -> tuple[Any, ...] | None:
    if len(micro) != 3 or micro[0] != "send" or micro[1].__class__ is not str:
        return None
    what = micro[2]
    if what.__class__ is list:
        record = _record(what)
        return None if record is None else ("send", micro[1], record)
    return ("send", micro[1], what) if what.__class__ is int and 0 <= what < _INT64 else None


def _poll(micro: list[Any]) -> tuple[Any, ...] | None:
    if len(micro) != 2 or micro[0] != "poll" or micro[1].__class__ is not dict:
        return None
    answer = {}
    for key, records in micro[1].items():
        if records.__class__ is not list:
            return None
        read = [_record(one) for one in records]
        if None in read:
            return None
        answer[key] = read
    return "poll", answer


def _record(pair: Any) -> tuple[int, int] | None:  # noqa: ANN401 - whatever JSON has there
    if pair.__class__ is not list or len(pair) != 2:
        return None
    offset, value = pair
    if offset.__class__ is not int or value.__class__ is not int:
        return None
    return (offset, value) if 0 <= offset < _INT64 and 0 <= value < _INT64 else None
