"""A bookie's journal: what is written is read again, and what is damaged is told."""

import pytest

from tidemark.nodes.formats.bad_batch import BadBatchError
from tidemark.nodes.formats.journal import COOKIE, ENTRY, FENCE, decode, encode
from tidemark.nodes.formats.record_batch import Records, build, place, read_header, single


@pytest.mark.parametrize("record", [(COOKIE, 0), (COOKIE, 3), (FENCE, 7)])
def test_a_cookie_and_a_fence_are_read_as_they_were_written(record):
    assert decode(encode(record)) == record


def test_an_entry_keeps_its_batch_byte_for_byte():
    raw = place(build([5, 6], producer_id=9, producer_epoch=0, base_sequence=4), 12, 3)
    found = decode(encode((ENTRY, 3, 1, -1, 12, Records(raw))))
    assert found[:5] == (ENTRY, 3, 1, -1, 12)
    assert found[5].raw() == raw


def test_a_journal_is_made_of_batches_that_a_log_file_keeps():
    header = read_header(encode((FENCE, 7)))
    assert (header.magic, header.count, header.control) == (2, 1, False)


@pytest.mark.parametrize(
    "raw", [build([1]), single(b"fence", b"\0"), single(b"entry", b"\0" * 30), single(b"else", b"\0" * 8)]
)
def test_what_is_no_record_of_a_journal_is_refused(raw):
    with pytest.raises(BadBatchError):
        decode(raw)


def test_values_that_are_no_batch_cannot_be_kept():
    with pytest.raises(TypeError, match="record batches only"):
        encode((ENTRY, 3, 1, -1, 12, (5, 6)))
