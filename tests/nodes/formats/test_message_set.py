"""Segments of all message formats, also as Kafka's Python clients encode them."""

import struct
from zlib import crc32

import pytest
from aiokafka.record.default_records import DefaultRecordBatchBuilder
from aiokafka.record.legacy_records import LegacyRecordBatchBuilder
from crc32c import crc32c

from tidemark.nodes.formats.bad_batch import BadBatchError
from tidemark.nodes.formats.message_set import read_partition, read_segments, scan
from tidemark.nodes.formats.record_batch import build, place

FIRST = "00000000000000000000.log"
NONE, GZIP, SNAPPY, LZ4 = 0, 1, 2, 3
VALUES = [b"7", b"-12", b"x", None, b"07"]
NOW = 1_700_000_000_000


def encode(offset, value):
    """An uncompressed message of magic 1 without a key."""
    body = struct.pack(">bbqi", 1, 0, 0, -1) + struct.pack(">i", -1 if value is None else len(value)) + (value or b"")
    return struct.pack(">qiI", offset, len(body) + 4, crc32(body)) + body


def by_aiokafka(magic, codec, wrapper_offset=None):
    builder = LegacyRecordBatchBuilder(magic=magic, compression_type=codec, batch_size=1 << 20)
    for offset, value in enumerate(VALUES):
        builder.append(offset, NOW, b"k", value)
    raw = bytes(builder.build())
    # A broker gives a wrapper the offset of the last message in it.
    return raw if wrapper_offset is None else wrapper_offset.to_bytes(8) + raw[8:]


def integers(magic):
    """What the values are read as in another format."""
    if magic == 1:
        return tuple(read_segments({FIRST: encode(0, value)})[0][2][0] for value in VALUES)
    builder = DefaultRecordBatchBuilder(2, 0, 0, -1, -1, -1, 1 << 20)
    for offset, value in enumerate(VALUES):
        builder.append(offset, NOW, b"k", value, [])
    return read_segments({FIRST: bytes(builder.build())})[0][2]


def test_record_batches_keep_their_epochs():
    data = build((1, 2), 0, 4) + build((3,), 2, 5)

    assert read_segments({FIRST: data}) == [(0, 4, (1, 2)), (2, 5, (3,))]


@pytest.mark.parametrize("magic", [0, 1])
def test_each_old_message_is_an_entry_without_an_epoch(magic):
    found = read_segments({FIRST: by_aiokafka(magic, NONE)})

    assert [(base, epoch) for base, epoch, _ in found] == [(offset, -1) for offset in range(5)]
    assert [values for _, _, values in found[:2]] == [(7,), (-12,)]


@pytest.mark.parametrize(("magic", "codec"), [(0, SNAPPY), (1, SNAPPY), (1, LZ4)])
def test_a_compressed_old_message_is_unpacked(magic, codec):
    pytest.importorskip("cramjam")
    assert_unpacked(magic, codec)


@pytest.mark.parametrize("magic", [0, 1])
def test_gzip_needs_no_package(magic):
    assert_unpacked(magic, GZIP)


def assert_unpacked(magic, codec):
    data = by_aiokafka(magic, codec, wrapper_offset=14)

    assert read_segments({FIRST: data}) == [(10, -1, integers(2))]


def test_values_do_not_depend_on_the_format():
    """Decimal text is a number, anything else a fingerprint, of its own for each."""
    assert integers(1) == integers(2)
    assert integers(1)[:2] == (7, -12)
    assert len(set(integers(1))) == len(VALUES)


@pytest.mark.parametrize("missing", [1, 20, 60])
def test_a_torn_tail_is_left_out(missing):
    data = build((1,), 0, 4) + build((2,), 1, 4)

    assert read_segments({FIRST: data[:-missing]}) == [(0, 4, (1,))]


@pytest.mark.parametrize("magic", [1, 2])
def test_what_follows_a_damaged_entry_is_left_out(magic):
    one = [encode(offset, b"5") if magic == 1 else build((5,), offset, 0) for offset in range(3)]
    data = b"".join((one[0], one[1][:-1] + b"!", one[2]))

    assert [values for _, _, values in read_segments({FIRST: data})] == [(5,)]


def test_zeroes_are_no_entry():
    assert read_segments({FIRST: build((1,)) + bytes(100)}) == [(0, -1, (1,))]


def test_segments_are_read_in_order():
    files = {
        "00000000000000000002.log": build((3,), 2, 1),
        FIRST: build((1, 2), 0, 1),
        "00000000000000000000.index": b"?",
    }

    assert read_segments(files) == [(0, 1, (1, 2)), (2, 1, (3,))]


def test_an_earlier_segment_may_end_torn_if_the_next_goes_on_from_there():
    """As a broker leaves it that met a full disk, and began a segment when it started again."""
    files = {FIRST: build((1, 2), 0, 1) + b"torn", "00000000000000000002.log": build((3,), 2, 1)}

    assert read_segments(files) == [(0, 1, (1, 2)), (2, 1, (3,))]


def test_a_hole_between_segments_is_damage():
    files = {FIRST: build((1, 2), 0, 1)[:-1], "00000000000000000002.log": build((3,), 2, 1)}

    with pytest.raises(BadBatchError, match=r"damaged from byte 0 on \(offset 0\)"):
        read_segments(files)


def test_control_batches_and_gaps_do_not_stop_the_reading():
    """They are Kafka's own: of transactions, and after compaction."""
    batch = bytearray(build((1, 2, 3), 10, 0))
    struct.pack_into(">hi", batch, 21, 0x20, 5)
    struct.pack_into(">I", batch, 17, crc32c(bytes(batch[21:])))

    assert read_segments({FIRST: bytes(batch) + build((4,), 16, 0)}) == [(10, 0, (1, 2, 3)), (16, 0, (4,))]


def test_a_growing_file_is_read_bit_by_bit():
    first, second = build((1,), 0, 3), place(build((2, 3)), 1, 3)

    def found(data, position):
        return list(scan(lambda at, size: data[at : at + size], len(data), position))

    assert [(e.values, e.end) for e in found(first + second[:30], 0)] == [((1,), len(first))]
    assert found(first + second[:30], len(first)) == []
    (entry,) = found(first + second, len(first))
    assert (entry.base, entry.next, entry.epoch, entry.position, entry.raw) == (1, 3, 3, len(first), second)


def test_an_entry_larger_than_one_read_is_read_whole():
    large = build(range(50_000), 0, 3)

    assert [(base, len(values)) for base, _, values in read_segments({FIRST: large + build((1,), 50_000, 3)})] == [
        (0, 50_000),
        (50_000, 1),
    ]


def test_a_directory_is_read(tmp_path):
    (tmp_path / FIRST).write_bytes(build((1,), 0, 2))
    (tmp_path / "leader-epoch-checkpoint").write_text("0\n0\n")

    assert read_partition(tmp_path) == [(0, 2, (1,))]
