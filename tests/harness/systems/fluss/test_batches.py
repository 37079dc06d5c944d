"""Fluss' record batches, against bytes that a server of 0.9.1 wrote."""

import pytest

from tidemark.harness.systems.fluss.batches import BatchError, StoredBatch, batch_of, batches_in

WRITTEN = bytes.fromhex(
    "0000000000000000320000000089107b19a201000027e7643001000000000000ffffffffffffffffffffffff010000000a000000000040420f0000000000"
    "010000000000000032000000009a107b19a2010000280c930a01000000000000ffffffffffffffffffffffff010000000a0000000000c0c62d0000000000"
    "02000000000000003200000000a0107b19a201000014258f3801000000000000ffffffffffffffffffffffff010000000a000000000000093d0000000000"
)
"""The first three batches of a follower's segment, each of one record."""


def test_a_segment_is_read_batch_by_batch():
    assert list(batches_in(WRITTEN)) == [
        StoredBatch(0, 1, (1000000,)),
        StoredBatch(1, 2, (3000000,)),
        StoredBatch(2, 3, (4000000,)),
    ]


def test_what_is_sent_is_what_was_stored_but_for_offset_and_time():
    sent, stored = batch_of(1000000), WRITTEN[: len(WRITTEN) // 3]

    assert sent[8:13] == stored[8:13]
    assert sent[21:] == stored[21:]
    assert list(batches_in(sent)) == [StoredBatch(0, 1, (1000000,))]


def test_a_batch_that_is_not_there_whole_is_left_out():
    assert [batch.base for batch in batches_in(WRITTEN[:-1])] == [0, 1]
    assert list(batches_in(b"")) == []


def test_a_damaged_batch_is_refused():
    with pytest.raises(BatchError, match="the batch at offset 2 is damaged"):
        list(batches_in(WRITTEN[:-1] + b"\x7f"))


def test_another_format_is_refused():
    with pytest.raises(BatchError, match="offset 0 has format 1"):
        list(batches_in(WRITTEN[:12] + b"\x01" + WRITTEN[13:]))
