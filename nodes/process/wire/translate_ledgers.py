"""BookKeeper's messages, between the core and the wire."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from tidemark.nodes.core.log import Batch
from tidemark.nodes.core.messages import Heartbeat
from tidemark.nodes.families.bookkeeper.ledger import CLOSED, IN_RECOVERY, OPEN, Fragment, Ledger
from tidemark.nodes.families.bookkeeper.messages import (
    FENCED,
    NO_SUCH_ENTRY,
    OK,
    UNKNOWN,
    Acquire,
    AddEntry,
    AddResponse,
    BookieRegistered,
    Metadata,
    ReadEntries,
    ReadEntriesResponse,
    ReadLac,
    ReadLacResponse,
    RecoveryRead,
    RecoveryReadResponse,
    RegisterBookie,
    Update,
    Updated,
    WriteLac,
)
from tidemark.nodes.formats.record_batch import Records, read_header, split
from tidemark.nodes.formats.wire.ledgers import ENTRY, FRAGMENT, LEDGER, REQUESTS, RESPONSES, SHAPES, STAMP
from tidemark.nodes.formats.wire.names import MeaninglessError

if TYPE_CHECKING:
    from collections.abc import Mapping

TO_STORE: tuple[type, ...] = (RegisterBookie, Acquire, Update, Heartbeat)
OF_STORE: tuple[type, ...] = (BookieRegistered, Updated, Metadata)
BETWEEN_NODES: tuple[type, ...] = (
    AddEntry,
    AddResponse,
    WriteLac,
    ReadLac,
    ReadLacResponse,
    RecoveryRead,
    RecoveryReadResponse,
    ReadEntries,
    ReadEntriesResponse,
)
MESSAGES = (*TO_STORE, *OF_STORE, *BETWEEN_NODES)

KEYS: dict[type, int] = {kind: key for kind in MESSAGES for key, shape in SHAPES.items() if shape.name == kind.__name__}
_KINDS = {key: kind for kind, key in KEYS.items()}
_STATUS = {OK, FENCED, NO_SUCH_ENTRY, UNKNOWN}
_STATES = {OPEN, IN_RECOVERY, CLOSED}


def request(m: Any) -> object:  # noqa: ANN401 (one of MESSAGES)
    """The request that says what the core says."""
    key = KEYS[type(m)]
    return REQUESTS[key](**{name: _to_wire(name, getattr(m, name)) for name in SHAPES[key].fields})


def heard(key: int) -> object:
    """The response to any of them."""
    return RESPONSES[key](heard=True)


def _to_wire(name: str, value: Any) -> object:  # noqa: ANN401 (a field of a message)
    match name:
        case "batch":
            return b"" if value is None else _raw(value)
        case "entries":
            return tuple(ENTRY(entry=entry, batch=_raw(batch)) for entry, batch in value.items())
        case "ledgers":
            return tuple(_ledger(one) for one in value)
        case "known":
            return tuple(STAMP(partition=partition, stamp=stamp) for partition, stamp in value.items())
        case _:
            return value


def _raw(batch: Batch) -> bytes:
    values = batch.values
    assert isinstance(values, Records)  # noqa: S101 (what this process keeps)
    return values.raw()


def _ledger(one: Ledger) -> object:
    fragments = tuple(FRAGMENT(first=part.first, ensemble=part.ensemble) for part in one.fragments)
    known = {part.name: getattr(one, part.name) for part in fields(Ledger)}
    return LEDGER(**{**known, "fragments": fragments})


def message(key: int, entity: Any) -> Any:  # noqa: ANN401 (kio's entity; one of MESSAGES)
    """What a request under one of these keys says.

    Raises:
        MeaninglessError: a word in it is none that there is, or a batch is not one.
        tidemark.nodes.formats.record_batch.BadBatchError: a batch is damaged.
    """
    kind = _KINDS[key]
    return kind(**{name: _from_wire(kind, name, getattr(entity, name)) for name in SHAPES[key].fields})


def _from_wire(kind: type, name: str, value: Any) -> object:  # noqa: ANN401 (a field of an entity)
    match name:
        case "batch":
            if not value and kind is RecoveryReadResponse:
                return None
            return _batch(value)
        case "entries":
            return {one.entry: _batch(one.batch) for one in value}
        case "ledgers":
            return tuple(_read_ledger(one) for one in value)
        case "known":
            return {one.partition: one.stamp for one in value}
        case "status":
            return _one_of(_STATUS, value)
        case _:
            return value


def _batch(value: bytes) -> Batch:
    batches = split(bytes(value or b""))
    if len(batches) != 1:
        raise MeaninglessError(f"an entry of {len(batches)} batches")
    header = read_header(batches[0])
    return Batch(header.base_offset, header.leader_epoch, Records(batches[0]))


def _read_ledger(one: Any) -> Ledger:  # noqa: ANN401 (kio's entity)
    fragments = tuple(Fragment(part.first, tuple(part.ensemble)) for part in one.fragments)
    known: Mapping[str, Any] = {part.name: getattr(one, part.name) for part in fields(Ledger)}
    return Ledger(**{**known, "fragments": fragments, "state": _one_of(_STATES, one.state)})


def _one_of(words: set[str], word: str) -> str:
    if word not in words:
        raise MeaninglessError(f"there is no {word!r} among {', '.join(sorted(words))}")
    return word
