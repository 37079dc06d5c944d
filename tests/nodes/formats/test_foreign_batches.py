"""Batches that Kafka's Python clients build are read here, and ours are read by them."""

import gzip
import io
import struct
import warnings

import pytest
from aiokafka.record.default_records import DefaultRecordBatchBuilder as AiokafkaBuilder
from aiokafka.record.memory_records import MemoryRecords as AiokafkaRecords
from crc32c import crc32c
from hypothesis import given
from hypothesis import strategies as st
from kio.records.readers import read_batch

from tidemark.nodes.formats.record_batch import (
    HEADER_SIZE,
    BadBatchError,
    build,
    place,
    read_header,
    records_of,
    split,
    values_of,
)

with warnings.catch_warnings():
    warnings.simplefilter(
        "ignore", DeprecationWarning
    )  # it reads its own files in a way that Python 3.11 does not like
    from kafka.record.memory_records import MemoryRecords as KafkaPythonRecords
    from kafka.record.memory_records import MemoryRecordsBuilder as KafkaPythonBuilder

NOW = 1_700_000_000_000
GZIP = 1

TEXT = st.one_of(st.none(), st.binary(max_size=300))
FIELDS = st.lists(st.tuples(st.integers(0, 10_000), TEXT, TEXT), min_size=1, max_size=12)
HEADERS = [("trace", b"abc"), ("empty", b"")]


def by_aiokafka(records, codec=0, producer=(-1, -1, -1)):
    builder = AiokafkaBuilder(
        magic=2,
        compression_type=codec,
        is_transactional=0,
        producer_id=producer[0],
        producer_epoch=producer[1],
        base_sequence=producer[2],
        batch_size=1 << 20,
    )
    for offset, (late, key, value) in enumerate(records):
        assert builder.append(offset, timestamp=NOW + late, key=key, value=value, headers=HEADERS[: offset % 3])
    return bytes(builder.build())


def by_kafka_python(records, codec=0, producer=(-1, -1, -1)):
    builder = KafkaPythonBuilder(
        magic=2,
        compression_type=codec,
        batch_size=1 << 20,
        producer_id=producer[0],
        producer_epoch=producer[1],
        base_sequence=producer[2],
    )
    for offset, (late, key, value) in enumerate(records):
        assert builder.append(NOW + late, key, value, HEADERS[: offset % 3])
    builder.close()
    return bytes(builder.buffer())


BUILDERS = pytest.mark.parametrize("build_theirs", [by_aiokafka, by_kafka_python])
CODECS = pytest.mark.parametrize("codec", [0, GZIP])


@BUILDERS
@CODECS
@given(records=FIELDS)
def test_theirs_are_read_here(build_theirs, codec, records):
    raw = build_theirs(records, codec)

    assert split(raw) == [raw]
    assert records_of(raw) == [(key, value) for _, key, value in records]
    assert records_of(place(raw, 77, 3)) == records_of(raw)
    assert read_header(raw).codec in (0, codec)  # nobody compresses what would only grow


@BUILDERS
@CODECS
def test_their_decimals_are_integers(build_theirs, codec):
    values = (1_000_000, 1_000_001, -5)

    assert values_of(build_theirs([(0, b"key", b"%d" % value) for value in values], codec)) == values


@BUILDERS
def test_their_producers_number_the_batches(build_theirs):
    header = read_header(build_theirs([(0, None, b"1")], producer=(4711, 2, 15)))

    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (4711, 2, 15)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=30), st.integers(0, 2**40), st.integers(0, 1000))
def test_ours_are_read_there(values, base, epoch):
    raw = build(values, base, epoch, timestamp_ms=NOW)
    texts = [b"%d" % value for value in values]

    for reader in (AiokafkaRecords, KafkaPythonRecords):
        batch = reader(raw).next_batch()
        assert batch.validate_crc()
        records = list(batch)
        assert [record.value for record in records] == texts
        assert [record.offset for record in records] == list(range(base, base + len(values)))
        assert {record.timestamp for record in records} == {NOW}
        assert all(record.key is None and not list(record.headers) for record in records)

    found, size = read_batch(raw, 0)
    assert size == len(raw)
    assert found.partition_leader_epoch == epoch
    assert [record.value for record in found.records] == texts


@given(st.lists(st.lists(st.integers(0, 99), min_size=1, max_size=4), min_size=1, max_size=5))
def test_a_whole_log_of_ours_is_read_there(batches):
    log = b""
    expected = []
    for values in batches:
        log += place(build(values), len(expected), 1)
        expected += values

    for reader in (AiokafkaRecords, KafkaPythonRecords):
        records = reader(log)
        found = []
        while records.has_next():
            found += [(record.offset, int(record.value)) for record in records.next_batch()]
        assert found == list(enumerate(expected))


def gzipped(*parts):
    """A batch of one record whose section is what the parts' gzip members are, one behind the other."""
    plain = build([1])
    section = b"".join(gzip.compress(part) for part in parts)
    raw = plain[:8] + struct.pack(">i", 49 + len(section)) + plain[12:21] + b"\0\x01" + plain[23:HEADER_SIZE] + section
    return raw[:17] + struct.pack(">I", crc32c(raw[21:])) + raw[21:]


def test_gzip_may_come_in_several_members():
    section = build([1])[HEADER_SIZE:]

    assert values_of(gzipped(section[:3], section[3:])) == (1,)


def test_gzip_that_does_not_unpack_is_corrupt():
    raw = gzipped(build([1])[HEADER_SIZE:])
    for broken in (
        raw[:-9],
        raw[:HEADER_SIZE] + b"no gzip",
        raw[:-4] + b"\0\0\0\0",
        raw[: HEADER_SIZE + 12] + b"\xff" * 9,
    ):
        sized = broken[:8] + struct.pack(">i", len(broken) - 12) + broken[12:]
        with pytest.raises(BadBatchError) as caught:
            values_of(sized)
        assert caught.value.error == "CORRUPT_MESSAGE"


def test_the_gzip_of_a_client_is_gzip():
    raw = by_aiokafka([(0, None, b"1" * 100)] * 50, GZIP)

    assert len(raw) < 1_000
    with gzip.open(io.BytesIO(raw[HEADER_SIZE:])) as section:
        assert section.read().count(b"1" * 100) == 50
