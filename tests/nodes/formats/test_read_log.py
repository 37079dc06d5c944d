"""Reading a segment file that was collected."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.nodes.formats.read_log import read_segment
from tidemark.nodes.formats.record_batch import build
from tidemark.nodes.formats.segment import scan

BATCHES = st.lists(st.lists(st.integers(0, 10**9), min_size=1, max_size=4), max_size=5)


def segment_of(batches):
    base, raws, expected = 0, [], []
    for epoch, values in enumerate(batches):
        raws.append(build(values, base, epoch))
        expected.append((base, epoch, tuple(values)))
        base += len(values)
    return raws, expected


@given(BATCHES)
def test_its_batches_are_read_in_order(batches):
    raws, expected = segment_of(batches)

    assert read_segment(b"".join(raws)) == expected


@given(BATCHES, st.data())
def test_a_torn_tail_is_left_out(batches, data):
    raws, expected = segment_of(batches)
    content = b"".join(raws)
    at = data.draw(st.integers(0, len(content)))
    whole, end = 0, 0
    for raw in raws:
        end += len(raw)
        whole += end <= at

    assert read_segment(content[:at]) == expected[:whole]


def test_so_is_all_that_follows_a_damaged_batch():
    damaged = bytearray(build([2], 1))
    damaged[-1] ^= 1

    assert read_segment(build([1]) + damaged + build([3], 2)) == [(0, -1, (1,))]


@pytest.mark.parametrize("size", [5_000, 3])
def test_big_batches_are_read_like_small_ones(size):
    values = tuple(range(size))

    assert read_segment(build(values, 0, 1) + build([7], size, 1)) == [(0, 1, values), (size, 1, (7,))]


@given(st.binary(max_size=300))
def test_garbage_reads_as_nothing(data):
    assert read_segment(data) == []


def test_a_length_that_cannot_be_asks_for_no_memory():
    content = build([1]) + build([2], 1)[:8] + b"\x7f\xff\xff\xff" + build([2])[12:] * 100
    asked = []

    def read(position, size):
        asked.append(size)
        return content[position : position + size]

    assert [found.sound for found in scan(read, len(content))] == [True, False]
    assert max(asked) <= len(content)
