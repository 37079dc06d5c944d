"""Kafka's record batch, version 2 (magic 2), kept as the bytes it came as.

Base offset and leader epoch lie outside the checksum (CRC32C, from byte 21 on), so a leader sets them in place, and nothing is
encoded again, but for what a log keeps of a batch that was cut in two. Records are looked into only if somebody asks for values.

What a leader of a voting family writes of its own is a control batch (:mod:`tidemark.nodes.formats.control_records`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from struct import Struct
from typing import Protocol, overload

from crc32c import crc32c

from tidemark.nodes.formats import control_records, record_section
from tidemark.nodes.formats.bad_batch import BadBatchError
from tidemark.nodes.formats.compression import decompress

_HEADER = Struct(">qiibIhiqqqhii")
_UNSUMMED = Struct(">qiibI")
_SUMMED = Struct(">hiqqqhii")
_BASE = Struct(">q")
_EPOCH = Struct(">i")

HEADER_SIZE = _HEADER.size
_OVERHEAD = 12
"""Bytes that a batch's length does not count: base offset and the length itself."""
_MAGIC_AT = 16
_SUM_FROM = 21
_CODEC = 0x07
_CONTROL = 0x20

_DECIMAL = re.compile(rb"0|-?[1-9][0-9]{0,18}")
_NULL = b"no value"
_MARKER = b"marker"
_INT64 = 1 << 63


@dataclass(slots=True)
class Header:
    """The fixed part of a batch, in its order.

    Attributes:
        length: bytes after this field, header included.
        attributes: codec in bits 0–2, timestamp type in 3, transactional in 4, control in 5.
        last_offset_delta: offset of the last record, less the base offset.
        base_timestamp, max_timestamp: ms since 1970.
        producer_id, producer_epoch, base_sequence: −1 unless the producer is idempotent.
    """

    base_offset: int
    length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    count: int

    @property
    def size(self) -> int:
        """Bytes of the whole batch."""
        return _OVERHEAD + self.length

    @property
    def codec(self) -> int:
        """Index into :data:`tidemark.nodes.formats.compression.NAMES`."""
        return self.attributes & _CODEC

    @property
    def control(self) -> bool:
        """Whether it is a control batch, whose records no client sees."""
        return bool(self.attributes & _CONTROL)


def read_header(buffer: bytes | memoryview, at: int = 0) -> Header:
    """The header at a place in a buffer, unchecked.

    Raises:
        BadBatchError: it is cut off.
    """
    if len(buffer) - at < HEADER_SIZE:
        raise BadBatchError("CORRUPT_MESSAGE", "The batch ends within its header.")
    return Header(*_HEADER.unpack_from(buffer, at))


def checked_header(buffer: bytes | memoryview, at: int = 0, *, control: bool = False) -> Header:
    """The header of a batch that lies wholly in the buffer and may be kept; ``control`` batches only where they may be.

    Raises:
        BadBatchError: as :func:`split`.
    """
    if len(buffer) - at > _MAGIC_AT and buffer[at + _MAGIC_AT] < 2:
        raise BadBatchError("UNSUPPORTED_FOR_MESSAGE_FORMAT", "Only record batches of version 2 (magic 2) are kept.")
    header = read_header(buffer, at)
    if header.magic != 2:
        raise BadBatchError("CORRUPT_MESSAGE", f"There is no record batch with magic {header.magic}.")
    if header.length < HEADER_SIZE - _OVERHEAD:
        raise BadBatchError("CORRUPT_MESSAGE", f"A batch cannot have a length of {header.length}.")
    if at + header.size > len(buffer):
        raise BadBatchError("CORRUPT_MESSAGE", f"The batch is cut off: {len(buffer) - at} bytes of {header.size}.")
    if crc32c(memoryview(buffer)[at + _SUM_FROM : at + header.size]) != header.crc:
        raise BadBatchError("CORRUPT_MESSAGE", "The batch's checksum is wrong.")
    if header.count < 1 or header.last_offset_delta != header.count - 1:
        raise BadBatchError(
            "INVALID_RECORD",
            f"The batch claims {header.count} records, and {header.last_offset_delta} as last offset delta.",
        )
    if not header.codec and header.count * record_section.SMALLEST_RECORD > header.size - HEADER_SIZE:
        raise BadBatchError("INVALID_RECORD", f"{header.count} records do not fit in a batch of {header.size} bytes.")
    if header.control and not control:
        raise BadBatchError("INVALID_RECORD", "Clients may not write control records.")
    if header.producer_id >= 0 and (header.producer_epoch < 0 or header.base_sequence < 0):
        raise BadBatchError("INVALID_RECORD", "A batch of an idempotent producer needs an epoch and a sequence number.")
    return header


def split(buffer: bytes | memoryview, *, control: bool = False) -> list[bytes]:
    """The batches of a produce request's records field, or of a fetch response's; none if it is empty. ``control`` as above.

    Raises:
        BadBatchError: a batch is cut off, has another magic, an impossible length or count, or a wrong checksum; is a control
            batch; or has a producer id without a sequence number.
    """
    batches = []
    at = 0
    while at < len(buffer):
        end = at + checked_header(buffer, at, control=control).size
        batches.append(bytes(buffer[at:end]))
        at = end
    return batches


def place(raw: bytes, base: int, epoch: int) -> bytes:
    """The same batch with this base offset and leader epoch."""
    return b"".join((_BASE.pack(base), raw[8:12], _EPOCH.pack(epoch), raw[16:]))


def build(
    values: Sequence[int],
    base: int = 0,
    epoch: int = -1,
    *,
    timestamp_ms: int = 0,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
) -> bytes:
    """An uncompressed batch, one record per value: its decimal digits, no key.

    Args:
        values: the records.
        base: offset of the first.
        epoch: the leader's.
        timestamp_ms: of all records, since 1970.
        producer_id: −1 for a producer that is not idempotent, as the next two.
        producer_epoch: the producer's.
        base_sequence: of the first record.

    Raises:
        ValueError: there are no values.
    """
    count = len(values)
    if not count:
        raise ValueError("A batch has at least one record.")
    section = record_section.encode(b"%d" % value for value in values)
    producer = (producer_id, producer_epoch, base_sequence)
    summed = _SUMMED.pack(0, count - 1, timestamp_ms, timestamp_ms, *producer, count) + section
    return _UNSUMMED.pack(base, _SUM_FROM - _OVERHEAD + len(summed), epoch, 2, crc32c(summed)) + summed


def leader_change(leader: int, epoch: int) -> bytes:
    """The control batch by which a leader begins its epoch."""
    return single(control_records.LEADER_CHANGE, control_records.leader_change(leader), epoch, control=True)


def voters(members: Sequence[int], epoch: int) -> bytes:
    """The control batch by which a leader says who belongs to the group from now on."""
    return single(control_records.VOTERS, control_records.voters(members), epoch, control=True)


def single(key: bytes, value: bytes, epoch: int = -1, *, control: bool = False) -> bytes:
    """A batch of one record that has a key."""
    summed = _SUMMED.pack(_CONTROL * control, 0, 0, 0, -1, -1, -1, 1) + record_section.encode_one(key, value)
    return _UNSUMMED.pack(0, _SUM_FROM - _OVERHEAD + len(summed), epoch, 2, crc32c(summed)) + summed


def is_control(raw: bytes) -> bool:
    """Whether it is a control batch."""
    return read_header(raw).control


def without_first(raw: bytes, gone: int) -> bytes:
    """What a log keeps of a batch whose first so many records it has already; uncompressed, as the producer numbered them.

    Raises:
        BadBatchError: as :func:`records_of`.
    """
    header = read_header(raw)
    section = record_section.without_first(decompress(header.codec, raw[HEADER_SIZE : header.size]), gone)
    sequence = header.base_sequence + gone & 0x7FFF_FFFF if header.producer_id >= 0 else header.base_sequence
    summed = _SUMMED.pack(
        header.attributes & ~_CODEC,
        header.last_offset_delta - gone,
        header.base_timestamp,
        header.max_timestamp,
        header.producer_id,
        header.producer_epoch,
        sequence,
        header.count - gone,
    )
    summed += section
    length = _SUM_FROM - _OVERHEAD + len(summed)
    return _UNSUMMED.pack(header.base_offset + gone, length, header.leader_epoch, 2, crc32c(summed)) + summed


def records_of(raw: bytes) -> list[tuple[bytes | None, bytes | None]]:
    """Key and value of each record; the checksum is not looked at.

    Raises:
        BadBatchError: the records are damaged, or compressed with a codec that is not installed.
    """
    header = read_header(raw)
    return record_section.decode(decompress(header.codec, raw[HEADER_SIZE : header.size]), header.count)


def values_of(raw: bytes) -> tuple[int, ...]:
    """One integer per record: the record's value if it is a plain decimal, else a stable 63-bit fingerprint of its bytes; of a
    leader's own one the core's number for it.

    Raises:
        BadBatchError: as :func:`records_of`, or a control record is malformed.
    """
    header = read_header(raw)
    if header.control:
        if header.producer_id >= 0:
            return (_of_marker(raw, header),)
        found = [(control_records.number_of(key, value, header.leader_epoch), value) for key, value in records_of(raw)]
        return tuple([value_of(value) if number is None else number for number, value in found])
    return tuple([value_of(value) for _, value in records_of(raw)])


def _of_marker(raw: bytes, header: Header) -> int:
    """The end of a transaction, which Kafka's brokers write: a number below 0 for what it says and where it lies."""
    told = b"%d/" % header.base_offset + raw[_SUM_FROM : header.size]
    return -1 - (int.from_bytes(blake2b(told, digest_size=8, person=_MARKER).digest()) >> 1)


def value_of(value: bytes | None) -> int:
    """Different bytes give different integers (but for chance): "07" is not 7, and no value is not an empty one."""
    if value is not None and _DECIMAL.fullmatch(value):
        number = int(value)
        if -_INT64 <= number < _INT64:
            return number
    digest = blake2b(value or b"", digest_size=8, person=_NULL if value is None else b"")
    return int.from_bytes(digest.digest()) >> 1


class Place(Protocol):
    """What keeps a batch's bytes."""

    def read(self, position: int, size: int) -> bytes:
        """Exactly ``size`` bytes from ``position`` on."""
        ...


class Records(Sequence[int]):
    """The records of one batch, as the core's ``Batch.values``: their number is known, their values are decoded when asked for.

    The bytes are held until the batch lies in a file, and read from there afterwards, so a log costs no memory for them.
    An object belongs to one log. Equal are batches with equal bytes.
    """

    __slots__ = ("_count", "_place", "_position", "_raw", "size")

    def __init__(self, raw: bytes) -> None:
        """A batch that lies nowhere yet; ``raw`` is one that :func:`split` or :func:`build` gave.

        Raises:
            BadBatchError: it is no whole batch.
        """
        header = read_header(raw)
        if header.size != len(raw):
            raise BadBatchError("CORRUPT_MESSAGE", f"{len(raw)} bytes are not one batch of {header.size}.")
        self._raw: bytes | None = raw
        self._count = header.count
        self._place: Place | None = None
        self._position = -1
        self.size = len(raw)

    @classmethod
    def lying_in(cls, place: Place, position: int, header: Header) -> Records:
        """A batch that a file holds already."""
        records = cls.__new__(cls)
        records._count = header.count  # noqa: SLF001 (this class's own)
        records.size = header.size
        records.stored_at(place, position)
        return records

    def stored_at(self, place: Place, position: int) -> None:
        """From now on read the bytes there."""
        self._place = place
        self._position = position
        self._raw = None

    def placed(self, base: int, epoch: int) -> bytes:
        """The whole batch with this base offset and leader epoch, which those that are in memory have from now on.

        Raises:
            OSError: as :meth:`raw`.
        """
        raw = place(self.raw(), base, epoch)
        if self._raw is not None:
            self._raw = raw
        return raw

    def raw(self) -> bytes:
        """The whole batch.

        Raises:
            OSError: the file that holds it was closed, or cut before its end.
        """
        if self._raw is not None:
            return self._raw
        assert self._place is not None  # noqa: S101 (bytes, or a place)
        return self._place.read(self._position, self.size)

    @property
    def control(self) -> bool:
        """Whether a leader wrote it of its own."""
        return self.header().control

    def header(self) -> Header:
        """The batch's header; of a batch in a file only that much is read."""
        if self._raw is None and self._place is not None:
            return read_header(self._place.read(self._position, HEADER_SIZE))
        return read_header(self.raw())

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[int]:
        return iter(values_of(self.raw()))

    @overload
    def __getitem__(self, index: int) -> int: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[int]: ...

    def __getitem__(self, index: int | slice) -> int | Sequence[int]:
        """What is left behind a cut (``[n:]``) is a batch again, if that is not all or nothing."""
        if (
            isinstance(index, slice)
            and index.stop is None
            and index.step is None
            and 0 < (index.start or 0) < self._count
        ):
            return Records(without_first(self.raw(), index.start))
        return values_of(self.raw())[index]

    def __eq__(self, other: object) -> bool:
        return self.raw() == other.raw() if isinstance(other, Records) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Records({self._count} in {self.size} bytes)"
