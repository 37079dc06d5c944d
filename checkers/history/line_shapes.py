"""What the lines of a history's file may hold. Everything else is refused in a sentence, so that checkers need not ask."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import Any

from tidemark.checkers.history.history import NemesisOp, Op
from tidemark.checkers.history.trace_events import TRACE_FIELDS, Event, TraceEvent

Json = Any
"""What `json.loads` gives, or the same with tuples for arrays."""

LONGEST_NODE = 10
"""So many digits are no number of a node any more."""
VALUE = "a record's value must be a number (an integer of 64 bits), a string, null, true or false"
DEEPEST = 32
"""So far may arrays and objects be nested."""
_INT64 = 1 << 63
_shorten = reprlib.Repr()
_shorten.maxstring = _shorten.maxother = _shorten.maxlong = 60


class ShapeError(ValueError):
    """What is wrong with a line, as a sentence without its number."""


def no_micro_operation(micro: str, first: object, wanted: str) -> ShapeError:
    """What to say of one of another kind: as it is written, its first word, and those that there are."""
    hint = (
        "; --model list-append or rw-register judges transactions of keys" if str(first) in ("append", "r", "w") else ""
    )
    return ShapeError(f"{micro} is neither {wanted}{hint}")


def shown(value: object) -> str:
    """A value as far as a sentence has room for it."""
    return _shorten.repr(value)


def meta_of(entry: dict[str, Any]) -> dict[str, Any]:
    """The meta line; entries that nobody knows may be anything."""
    for name, (is_right, words) in _META.items():
        if name in entry and not is_right(entry[name]):
            raise ShapeError(f'"{name}" of the meta line must be {words}, and is {shown(entry[name])}')
    _tuples(entry)
    return entry


def nemesis_of(entry: dict[str, Any]) -> NemesisOp:
    """A strike or a healing."""
    time, what, index, kind, detail = (
        _field(entry, name, "a nemesis operation") for name in ("time", "what", "index", "fault", "detail")
    )
    if not (isinstance(what, str) and _is_int(index) and isinstance(kind, str) and isinstance(detail, dict)):
        raise ShapeError('a nemesis operation has a "what", an integer "index", a "fault" and an object "detail"')
    _tuples(detail)
    return (time, what, index, kind, detail)


def op_of(entry: dict[str, Any], *, of_logs: bool = True) -> Op:
    """Half an operation; if it need not be one `of_logs`, a transaction may have any value."""
    time, process, type_, f, value = (_field(entry, name, "an operation") for name in Op._fields[:5])
    if not (isinstance(process, str) or _is_int(process)):
        raise ShapeError(f'"process" must be a string or an integer, and is {shown(process)}')
    if not (isinstance(type_, str) and type_ in {"invoke", "ok", "fail", "info"}):
        raise ShapeError(f"the type of an operation is invoke, ok, fail or info, and not {shown(type_)}")
    if not isinstance(f, str):
        raise ShapeError(f'"f" must be a string, and is {shown(f)}')
    value = _tuples(value)
    if f == "send" or (f == "txn" and of_logs) or (f == "poll" and value is not None):
        _check_micro_operations(value)
    elif f in _OF_SHARE_GROUPS and not _is_of_share_group(value, completes=type_ != "invoke", of=f):
        raise ShapeError(f"the value of a {f} is {_OF_SHARE_GROUPS[f]}, and not {shown(value)}")
    elif f == "delete" and not (_is_deletion(value) or _is_of_a_key(value)):
        raise ShapeError(f'the value of a delete is [["delete", key, offset]], and not {shown(value)}')
    error, acks, final = entry.get("error"), entry.get("acks"), entry.get("final")
    for name, one in (("error", error), ("acks", acks)):
        if not (one is None or isinstance(one, str)):
            raise ShapeError(f'"{name}" must be a string, and is {shown(one)}')
    if not (final is None or isinstance(final, bool)):
        raise ShapeError(f'"final" must be true or false, and is {shown(final)}')
    return Op(time, process, type_, f, value, error, acks, bool(final))


def refuse_what_is_no_log(ops: Iterable[Op]) -> None:
    """Of operations that were read as those of any object: those of logs only may stay.

    Raises:
        ShapeError: a transaction has something else than sends and polls.
    """
    for number, op in enumerate(ops):
        if op.f == "txn" and op.value.__class__ is tuple:
            try:
                _check_micro_operations(op.value)
            except ShapeError as error:
                raise ShapeError(f"operation {number}: {error}") from None


def trace_event_of(entry: dict[str, Any]) -> TraceEvent:
    """An event of the replicas' trace."""
    time, node, name, partition = (
        _field(entry, field, "a trace event") for field in ("time", "node", "event", "partition")
    )
    if not (_is_int(node) and isinstance(name, str) and isinstance(partition, str)):
        raise ShapeError('a trace event has an integer "node", and strings for "event" and "partition"')
    rest = entry.get("fields")
    names = TRACE_FIELDS.get(name)
    if rest is None:
        if names is None:
            raise ShapeError(f'{shown(name)} is not a known trace event and has no "fields"')
        rest = [_field(entry, field, f"the trace event {name}") for field in names]
    elif not isinstance(rest, list) or (names is not None and len(rest) != len(names)):
        raise ShapeError(f'"fields" does not fit the trace event {shown(name)}')
    fields = tuple(_tuples(value) for value in rest)
    for field, value in zip(names or (), fields, strict=names is not None):
        is_right, words = _TRACE.get(field, _INTEGER)
        if not is_right(value):
            raise ShapeError(f'"{field}" of the trace event {name} must be {words}, and is {shown(value)}')
    return (time, node, name, partition, *fields)


def _field(entry: dict[str, Any], name: str, of: str) -> Json:
    if name not in entry:
        raise ShapeError(f'{of} needs the field "{name}"')
    value = entry[name]
    if name == "time" and not _is_int(value):
        raise ShapeError(f'"time" must be an integer number of microseconds, and is {shown(value)}')
    return value


def _check_micro_operations(value: Json) -> None:
    if not isinstance(value, tuple):
        raise ShapeError("the value of a send or poll must be a list of micro-operations")
    for micro in value:
        if isinstance(micro, tuple) and len(micro) == 3 and micro[0] == "send":
            _check_send(micro[1], micro[2])
        elif isinstance(micro, tuple) and len(micro) == 2 and micro[0] == "poll" and isinstance(micro[1], dict):
            for key, records in micro[1].items():
                if not isinstance(records, list) or not all(map(_is_read, records)):
                    _refuse_poll(key, records)
        else:
            first = micro[0] if isinstance(micro, tuple) and micro else None
            raise no_micro_operation(shown(micro), first, '["send", key, value] nor ["poll", {…}]')


def _check_send(key: Json, what: Json) -> None:
    if not isinstance(key, str):
        raise ShapeError(f"the key of a send must be a string, and is {shown(key)}")
    if isinstance(what, tuple):
        if len(what) != 2:
            raise ShapeError(f"a send completes with [offset, value], and not with {shown(what)}")
        offset, what = what
        if not (offset is None or (_is_int(offset) and offset >= -1)):
            raise ShapeError(f"the offset of a send must be an integer or null, and is {shown(offset)}")
    if not _is_value(what):
        raise ShapeError(f"{VALUE}, and is {shown(what)}")


def _refuse_poll(key: str, records: Json) -> None:
    pairs = isinstance(records, list) and all(isinstance(one, tuple) and len(one) == 2 for one in records)
    if not pairs:
        raise ShapeError(f"a poll of {shown(key)[1:-1]} must be a list of [offset, value] pairs")
    offset, value = next(one for one in records if not _is_read(one))
    if not _is_offset(offset):
        raise ShapeError(f"the offset of a record must be an integer from 0 on, and is {shown(offset)}")
    raise ShapeError(f"{VALUE}, and is {shown(value)}")


def _is_deletion(value: Json) -> bool:
    micro = value[0] if isinstance(value, tuple) and len(value) == 1 else None
    if not isinstance(micro, tuple) or len(micro) != 3:
        return False
    return bool(micro[0] == "delete") and isinstance(micro[1], str) and _is_int(micro[2])


_OF_SHARE_GROUPS = {
    "share-fetch": '[["share-fetch", broker, {key: [[offset, value, count], …]}]]',
    "share-acknowledge": '[["share-acknowledge", broker, {key: [[offset, how], …]}]]',
}


def _is_of_share_group(value: Json, of: str, *, completes: bool) -> bool:
    """An invocation may have any value, since nothing is known of it yet."""
    if not completes:
        return True
    return isinstance(value, tuple) and all(
        isinstance(micro, tuple)
        and len(micro) == 3
        and micro[0] == of
        and _is_int(micro[1])
        and isinstance(micro[2], dict)
        and all(isinstance(told, list) and all(_is_told(one, of) for one in told) for told in micro[2].values())
        for micro in value
    )


def _is_told(one: Json, of: str) -> bool:
    if not isinstance(one, tuple) or not one or not _is_offset(one[0]):
        return False
    if of == "share-acknowledge":
        return len(one) == 2 and isinstance(one[1], str)
    return len(one) == 3 and _is_value(one[1]) and _is_int(one[2])


def _is_of_a_key(value: Json) -> bool:
    """A deletion of a key and not of records: `tidemark.checkers.objects` judges it."""
    return isinstance(value, tuple) and len(value) == 2 and value[1] is None


def _is_read(record: Json) -> bool:
    return isinstance(record, tuple) and len(record) == 2 and _is_offset(record[0]) and _is_value(record[1])


def _is_int(value: Json) -> bool:
    return type(value) is int and -_INT64 <= value < _INT64


def _is_offset(value: Json) -> bool:
    return type(value) is int and 0 <= value < _INT64


def _is_value(value: Json) -> bool:
    kind = type(value)
    return _is_name(value) or value is None or kind is bool or (kind is float and isfinite(value))


def _is_name(value: Json) -> bool:
    return type(value) is str or (type(value) is int and -_INT64 <= value < 2 * _INT64)


def _is_bool(value: Json) -> bool:
    return isinstance(value, bool)


def _is_string(value: Json) -> bool:
    return isinstance(value, str)


def _are_ints(value: Json) -> bool:
    return isinstance(value, tuple) and all(map(_is_int, value))


def _are_values(value: Json) -> bool:
    return isinstance(value, tuple) and all(map(_is_name, value))


def _are_pairs(value: Json) -> bool:
    return isinstance(value, tuple) and all(_are_ints(pair) and len(pair) == 2 for pair in value)


def _are_voters(value: Json) -> bool:
    return isinstance(value, tuple) and all(
        isinstance(one, tuple) and len(one) == 2 and _is_int(one[0]) and isinstance(one[1], str) for one in value
    )


def _are_entries(value: Json) -> bool:
    return isinstance(value, tuple) and all(
        isinstance(entry, tuple) and len(entry) == 4 and all(map(_is_int, entry)) for entry in value
    )


def _are_commits(value: Json) -> bool:
    return isinstance(value, tuple) and all(
        isinstance(one, tuple) and len(one) == 3 and isinstance(one[1], str) and _is_int(one[0]) and _is_int(one[2])
        for one in value
    )


def _are_batches(value: Json) -> bool:
    return isinstance(value, tuple) and all(
        isinstance(batch, tuple)
        and len(batch) == 3
        and _is_offset(batch[0])
        and _is_int(batch[1])
        and _are_values(batch[2])
        for batch in value
    )


def _are_replicas(value: Json) -> bool:
    return isinstance(value, dict) and all(
        isinstance(nodes, list) and all(map(_is_int, nodes)) for nodes in value.values()
    )


def _are_times(value: Json) -> bool:
    return isinstance(value, dict) and all(map(_is_int, value.values()))


def _are_words(value: Json) -> bool:
    return isinstance(value, dict) and all(map(_is_string, value.values()))


def _are_sentences(value: Json) -> bool:
    return isinstance(value, list) and all(map(_is_string, value))


def _are_doubts(value: Json) -> bool:
    return isinstance(value, dict) and all(
        len(node) < LONGEST_NODE and node.isdecimal() and _are_sentences(said) for node, said in value.items()
    )


def _are_deaths(value: Json) -> bool:
    return isinstance(value, list) and all(
        isinstance(one, dict)
        and _is_int(one.get("node"))
        and all(_is_int(one.get(name, 0)) for name in ("incarnation", "time"))
        and all(isinstance(one.get(name, ""), str) for name in ("how", "log"))
        for one in value
    )


def _are_ends(value: Json) -> bool:
    return isinstance(value, dict) and all(
        isinstance(ends, list) and len(ends) == 2 and all(map(_is_int, ends)) for ends in value.values()
    )


def _is_share_group(value: Json) -> bool:
    return isinstance(value, dict) and all(
        _is_bool(one) if name == "drained" else _is_int(one) for name, one in value.items()
    )


_Shape = tuple[Callable[[Json], bool], str]
_INTEGER: _Shape = (_is_int, "an integer")
_OFFSET: _Shape = (_is_offset, "an integer from 0 on")
_STRING: _Shape = (_is_string, "a string")
_BOOL: _Shape = (_is_bool, "true or false")
_NODES: _Shape = (_are_ints, "a list of integers")

_OF_TYPES: Mapping[str, _Shape] = {"str": _STRING, "bool": _BOOL, "Nodes": _NODES}
_TRACE: Mapping[str, _Shape] = {
    **{
        name: _OF_TYPES[type_]
        for event in Event.__subclasses__()
        for name, type_ in event.__annotations__.items()
        if type_ in _OF_TYPES
    },
    **dict.fromkeys(("base_offset", "to", "start", "leo"), _OFFSET),
    "values": (_are_values, "a list of integers or strings"),
    "cache": (_are_pairs, "a list of [epoch, offset]"),
    "snapshots": (_are_pairs, "a list of [offset, epoch]"),
    "voters": (_are_voters, "a list of [node, directory]"),
    "entries": (_are_entries, "a list of [base offset, next offset, epoch, checksum]"),
    "commits": (_are_commits, "a list of [offset in the log, group, committed offset]"),
    "batches": (_are_batches, "a list of [base offset, epoch, values]"),
}
"""The shapes of the trace events' fields by name; of those that are not here, an integer."""

_META: Mapping[str, _Shape] = {
    **dict.fromkeys(
        ("variant", "contract", "acks", "world", "system", "clients", "family", "model", "workload"), _STRING
    ),
    **dict.fromkeys(("min_isr", "faults_end_us", "end_us", "faults", "reads_within", "patience_us"), _INTEGER),
    **dict.fromkeys(
        (
            "contract_alone",
            "cuts_committed",
            "epoch_cache",
            "idempotent",
            "isr",
            "read_back",
            "replaces",
            "transactions",
            "unclean_election",
            "votes",
        ),
        _BOOL,
    ),
    "times": (_are_times, "an object of integers"),
    "holds_back": (_are_words, "an object of strings"),
    "replicas": (_are_replicas, "an object of lists of integers"),
    **dict.fromkeys(("not_suffered", "counterparts"), (_are_sentences, "a list of strings")),
    "not_understood": (_are_sentences, "a list of strings"),
    "doubted_nodes": (_are_doubts, "an object of lists of strings by node"),
    "open_transactions": (_are_ends, "an object of [last stable offset, high watermark]"),
    "share_group": (_is_share_group, "an object of drained, deliveries, lock_us"),
    "died": (_are_deaths, "a list of objects with a node"),
}


def _tuples(value: Json, depth: int = 0) -> Json:
    """Arrays as tuples; an array that is the value of an object stays a list (the records of a poll)."""
    if depth > DEEPEST:
        raise ShapeError(f"arrays and objects are nested more than {DEEPEST} deep")
    if isinstance(value, list):
        return tuple([_tuples(item, depth + 1) for item in value])
    if isinstance(value, dict):
        return {
            key: [_tuples(one, depth + 2) for one in item] if isinstance(item, list) else _tuples(item, depth + 1)
            for key, item in value.items()
        }
    return value
