"""Record batches: their header, their place in a log, and their values."""

import struct

import pytest
from crc32c import crc32c
from hypothesis import given
from hypothesis import strategies as st

from tidemark.nodes.core.log import Batch
from tidemark.nodes.formats.record_batch import (
    HEADER_SIZE,
    BadBatchError,
    Records,
    build,
    checked_header,
    is_control,
    leader_change,
    place,
    read_header,
    records_of,
    single,
    split,
    values_of,
)

INT64 = st.integers(-(2**63), 2**63 - 1)
VALUES = st.lists(INT64, min_size=1, max_size=40)
COUNT_AT = 57
DELTA_AT = 23


def summed(raw):
    """The batch with the checksum that it should have."""
    return raw[:17] + struct.pack(">I", crc32c(raw[21:])) + raw[21:]


def patched(raw, at, form, *fields):
    return raw[:at] + struct.pack(form, *fields) + raw[at + struct.calcsize(form) :]


def raw_with(*values):
    """A batch with these bytes as values."""
    plain = build([0] * len(values))
    bodies = []
    for delta, value in enumerate(values):
        sized = b"\x01" if value is None else bytes([2 * len(value)]) + value
        body = b"\0\0" + bytes([2 * delta]) + b"\x01" + sized + b"\0"
        bodies.append(bytes([2 * len(body)]) + body)
    raw = plain[:HEADER_SIZE] + b"".join(bodies)
    return summed(patched(raw, 8, ">i", len(raw) - 12))


def problem(raw):
    with pytest.raises(BadBatchError) as caught:
        split(raw)
    return caught.value.error


@given(VALUES, st.integers(0, 2**62), st.integers(-1, 2**31 - 1))
def test_what_is_built_is_read(values, base, epoch):
    raw = build(values, base, epoch, timestamp_ms=1_700_000_000_000)
    header = read_header(raw)

    assert split(raw) == [raw]
    assert values_of(raw) == tuple(values)
    assert (header.base_offset, header.leader_epoch, header.count) == (base, epoch, len(values))
    assert header.size == len(raw)
    assert header.base_timestamp == header.max_timestamp == 1_700_000_000_000
    assert header.producer_id == header.producer_epoch == header.base_sequence == -1


@given(VALUES, st.integers(0, 2**62), st.integers(0, 2**31 - 1))
def test_placing_changes_base_and_epoch_and_nothing_else(values, base, epoch):
    raw = build(values, timestamp_ms=7)

    assert place(raw, base, epoch) == build(values, base, epoch, timestamp_ms=7)


def test_an_idempotent_producers_numbers_are_in_the_header():
    header = read_header(build([1], producer_id=2**40, producer_epoch=3, base_sequence=99))

    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (2**40, 3, 99)


def test_a_batch_has_at_least_one_record():
    with pytest.raises(ValueError, match="at least one"):
        build([])


@given(st.lists(VALUES, max_size=5))
def test_a_buffer_is_split_into_its_batches(batches):
    raws = [build(values, 3) for values in batches]

    assert split(b"".join(raws)) == raws
    assert split(memoryview(b"".join(raws))) == raws


def test_a_header_is_read_anywhere_in_a_buffer():
    assert read_header(b"..." + build([5, 6], 9), 3).base_offset == 9


@given(st.data())
def test_a_batch_that_is_cut_off_is_corrupt(data):
    raw = build([1, 2, 3]) + build([4])
    whole = len(build([1, 2, 3]))
    at = data.draw(st.integers(1, len(raw) - 1).filter(lambda n: n != whole))

    assert problem(raw[:at]) == "CORRUPT_MESSAGE"


@given(st.data())
def test_a_flipped_bit_under_the_checksum_is_noticed(data):
    raw = bytearray(build([1, 22, 333]))
    raw[data.draw(st.integers(17, len(raw) - 1))] ^= 1 << data.draw(st.integers(0, 7))

    assert problem(bytes(raw)) == "CORRUPT_MESSAGE"


def outcome(read):
    """What it gives, or the name of the error."""
    try:
        return read()
    except BadBatchError as problem:
        return problem.error


ERRORS = {"CORRUPT_MESSAGE", "INVALID_RECORD", "UNSUPPORTED_FOR_MESSAGE_FORMAT", "UNSUPPORTED_COMPRESSION_TYPE"}


@given(st.binary(max_size=200))
def test_of_any_bytes_nothing_worse_comes_than_a_bad_batch(data):
    for buffer in (data, build([1])[:17] + data, summed(build([1])[:HEADER_SIZE] + data)):
        found = outcome(lambda buffer=buffer: [values_of(raw) for raw in split(buffer)])
        assert found in ERRORS if isinstance(found, str) else all(found)


@given(st.binary(min_size=1, max_size=60), st.integers(1, 6))
def test_damaged_records_are_told_from_sound_ones(section, count):
    raw = patched(build([0])[:HEADER_SIZE] + section, COUNT_AT, ">i", count)
    raw = patched(raw, 8, ">i", len(raw) - 12)
    found = outcome(lambda: values_of(raw))

    assert found == "INVALID_RECORD" or len(found) == count


RECORD = b"\x0e\0\0\0\x01\x027\0"


@pytest.mark.parametrize(
    "section",
    [
        pytest.param(b"\x0e\0\0\x02\x01\x027\0", id="the first record has offset 1"),
        pytest.param(b"\x0c\0\0\0\x01\x027", id="no room for the number of headers"),
        pytest.param(b"\x0e\0\0\0\x01\x0477", id="the value takes that room"),
        pytest.param(b"\x10\0\0\0\x01\x027\0", id="the record ends beyond the section"),
        pytest.param(b"\x01\0\0\0\x01\x027\0", id="a negative length"),
        pytest.param(RECORD + b"\0", id="something follows"),
        pytest.param(RECORD[:4], id="cut off"),
        pytest.param(b"\x0e\0" + b"\x80" * 10 + b"\0\0\x01\x027\0", id="a number of eleven bytes"),
        pytest.param(b"\x80", id="a number without an end"),
    ],
)
def test_records_must_be_well_formed(section):
    raw = build([7])
    assert raw[HEADER_SIZE:] == RECORD
    with pytest.raises(BadBatchError) as caught:
        values_of(patched(raw[:HEADER_SIZE] + section, 8, ">i", 49 + len(section)))

    assert caught.value.error == "INVALID_RECORD"


def test_numbers_may_take_more_bytes_than_they_need():
    raw = build([7])[:HEADER_SIZE] + b"\x12\0\x80\x80\0\0\x01\x027\0"

    assert values_of(patched(raw, 8, ">i", len(raw) - 12)) == (7,)


@pytest.mark.parametrize("magic", [0, 1])
def test_older_formats_are_not_supported(magic):
    assert problem(patched(build([1]), 16, ">b", magic)) == "UNSUPPORTED_FOR_MESSAGE_FORMAT"


@pytest.mark.parametrize("magic", [-1, 3])
def test_unheard_of_formats_are_corrupt(magic):
    assert problem(patched(build([1]), 16, ">b", magic)) == "CORRUPT_MESSAGE"


@pytest.mark.parametrize("length", [-(2**31), -1, 0, 48])
def test_a_batch_is_at_least_as_long_as_its_header(length):
    assert problem(patched(build([1]), 8, ">i", length)) == "CORRUPT_MESSAGE"


@pytest.mark.parametrize(
    ("count", "delta"),
    [
        pytest.param(3, 1, id="more records than offsets"),
        pytest.param(2, 2, id="more offsets than records"),
        pytest.param(0, -1, id="none"),
        pytest.param(-1, -2, id="fewer than none"),
        pytest.param(2**31 - 1, 2**31 - 2, id="more than its bytes can hold"),
    ],
)
def test_counts_must_be_possible(count, delta):
    raw = patched(patched(build([1, 2]), COUNT_AT, ">i", count), DELTA_AT, ">i", delta)

    assert problem(summed(raw)) == "INVALID_RECORD"


def test_clients_write_no_control_records():
    assert problem(summed(patched(build([1]), 21, ">h", 0x20))) == "INVALID_RECORD"


@pytest.mark.parametrize(("epoch", "sequence"), [(-1, 0), (0, -1)])
def test_an_idempotent_producer_numbers_its_batches(epoch, sequence):
    assert problem(build([1], producer_id=4, producer_epoch=epoch, base_sequence=sequence)) == "INVALID_RECORD"


@pytest.mark.parametrize("text", [b"0", b"7", b"-7", b"9223372036854775807", b"-9223372036854775808"])
def test_a_decimal_is_its_number(text):
    assert values_of(raw_with(text)) == (int(text),)


def test_anything_else_is_a_fingerprint_of_its_own():
    texts = [b"", None, b"07", b"-0", b"+7", b" 7", b"7\n", b"1_0", b"7.0", b"x", b"9223372036854775808", "٧".encode()]
    found = values_of(raw_with(*texts))

    assert len(set(found)) == len(texts)
    assert all(0 <= value < 2**63 for value in found)
    assert 7 not in found
    assert values_of(raw_with(*texts)) == found


def test_a_fingerprint_is_the_same_for_ever():
    assert values_of(raw_with(b"", None, b"hello")) == (8238016292129134938, 2360734683350283305, 6042553977968695870)


def test_the_records_are_keys_and_values():
    assert records_of(raw_with(b"", None, b"x")) == [(None, b""), (None, None), (None, b"x")]


class File:
    """Bytes, and how often they were read."""

    def __init__(self, content):
        self.content = content
        self.reads = []

    def read(self, position, size):
        self.reads.append((position, size))
        return self.content[position : position + size]


def test_records_know_their_number_and_decode_when_asked():
    records = Records(build([10, 20, 30], 5, 2))

    assert len(records) == 3
    assert list(records) == [10, 20, 30]
    assert records[1] == 20
    assert records[-1] == 30
    assert list(records[1:]) == [20, 30]
    assert 20 in records
    assert records.header().base_offset == 5
    assert Batch(5, 2, records).end == 8


def test_their_number_costs_no_decoding():
    broken = patched(build([1, 2, 3]), HEADER_SIZE, ">b", -1)

    assert len(Records(broken)) == 3
    with pytest.raises(BadBatchError):
        list(Records(broken))


def test_records_that_lie_in_a_file_are_read_from_there():
    raw = build([10, 20], 5, 2)
    file = File(b"...." + raw + b"....")
    records = Records(raw)
    records.stored_at(file, 4)

    assert len(records) == 2
    assert file.reads == []
    assert records._raw is None
    assert records.raw() == raw
    assert list(records) == [10, 20]
    assert records.header() == read_header(raw)
    assert file.reads[-1] == (4, HEADER_SIZE)


def test_records_found_in_a_file_equal_those_that_went_there():
    raw = build([10, 20], 5, 2)
    found = Records.lying_in(File(raw), 0, read_header(raw))

    assert found == Records(raw)
    assert found != Records(build([10, 21], 5, 2))
    assert found != (10, 20)
    assert len(found) == 2


@pytest.mark.parametrize("raw", [b"", build([1])[:-1], build([1]) + b"x", build([1]) + build([2])])
def test_records_are_one_whole_batch(raw):
    with pytest.raises(BadBatchError):
        Records(raw)


def test_records_say_what_they_are():
    assert repr(Records(build([1]))) == "Records(1 in 69 bytes)"


@given(st.lists(st.integers(0, 999), min_size=2, max_size=6), st.data())
def test_what_a_cut_leaves_of_a_batch_is_a_batch(values, data):
    gone = data.draw(st.integers(1, len(values) - 1))
    whole = Records(build(values, 10, 3, producer_id=5, producer_epoch=1, base_sequence=0x7FFF_FFFF))
    left = whole[gone:]

    assert list(left) == values[gone:]
    header = checked_header(left.raw())
    assert (header.base_offset, header.leader_epoch) == (10 + gone, 3)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (5, 1, gone - 1)


def test_each_end_of_a_transaction_is_a_number_of_its_own_below_0():
    """ABORT and COMMIT of Kafka's brokers, as producer 5 and epoch 1 have them."""

    def marker(kind, base):
        raw = place(single(b"\0\0\0" + bytes([kind]), b"\0\0\0\0\0\0", control=True), base, 7)
        return summed(patched(raw, 43, ">qh", 5, 1))

    numbers = [values_of(marker(kind, base)) for kind in (0, 1) for base in (3, 4)]
    assert len(set(numbers)) == 4
    assert all(number < 0 for (number,) in numbers)
    assert values_of(marker(0, 3)) == numbers[0]


def test_a_leader_begins_with_a_batch_that_no_client_may_send_or_sees():
    raw = place(leader_change(2, 7), 4, 7)

    assert is_control(raw)
    assert not is_control(build([1]))
    assert values_of(raw) == (-8,)
    assert split(raw, control=True) == [raw]
    assert records_of(raw)[0][0] == b"\0\0\0\2"
    with pytest.raises(BadBatchError, match="control"):
        split(raw)
