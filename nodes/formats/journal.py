"""A bookie's journal: record batches of one record each, whose key says what it is, so that a log file holds and recovers it.

=========  ============================================================================================
key        value
=========  ============================================================================================
cookie     limbo
fence      ledger
entry      ledger, entry, what the writer knew to be confirmed; then the entry's own record batch, whole
=========  ============================================================================================

Numbers are 64 bits, big endian, −1 for none. An entry's batch has its offset in the log and, as leader epoch, its ledger.
"""

from __future__ import annotations

from struct import Struct
from typing import Any

from tidemark.nodes.formats.bad_batch import BadBatchError
from tidemark.nodes.formats.record_batch import Records, checked_header, records_of, single

COOKIE, FENCE, ENTRY = "cookie", "fence", "entry"

_NUMBER = Struct(">q")
_ENTRY = Struct(">qqq")
_PREFIX = "journal."


def directory_of(partition: str) -> str:
    """The directory of a partition's journal, beside those of logs.

    >>> directory_of("t-0"), partition_of("journal.t-0"), partition_of("t-0")
    ('journal.t-0', 't-0', None)
    """
    return _PREFIX + partition


def partition_of(directory: str) -> str | None:
    """The partition whose journal lies in a directory; None if none does."""
    return directory.removeprefix(_PREFIX) if directory.startswith(_PREFIX) else None


def encode(record: tuple[Any, ...]) -> bytes:
    """One record, as the core has it: (cookie, limbo), (fence, ledger), or (entry, ledger, entry, lac, base, batch's values).

    Raises:
        TypeError: the values are no record batch.
    """
    kind, *fields = record
    if kind != ENTRY:
        return single(kind.encode(), _NUMBER.pack(fields[0]))
    ledger, entry, lac, _, values = fields
    if not isinstance(values, Records):
        raise TypeError("a journal takes record batches only")
    return single(ENTRY.encode(), _ENTRY.pack(ledger, entry, lac) + values.raw())


def decode(raw: bytes) -> tuple[Any, ...]:
    """The record of a batch that :func:`encode` made.

    Raises:
        BadBatchError: it is damaged, or none of these.
    """
    ((key, value),) = records_of(raw)
    found = value or b""
    if key in (COOKIE.encode(), FENCE.encode()) and len(found) == _NUMBER.size:
        return key.decode(), _NUMBER.unpack(found)[0]
    if key == ENTRY.encode() and len(found) > _ENTRY.size:
        batch = found[_ENTRY.size :]
        header = checked_header(batch)
        return (ENTRY, *_ENTRY.unpack_from(found), header.base_offset, Records(batch))
    raise BadBatchError("INVALID_RECORD", "A record of a journal is malformed.")
