"""Polls as operations, also when the library moved the position."""

import pytest

from tidemark.checkers.history.history import Op
from tidemark.harness.clients.journal import Journal, PollRecorder
from tidemark.harness.clients.polling import PolledRecord, Polling, Trouble, value_of

A, B = "t-0", "t-1"


class Reader:
    def __init__(self):
        self.ops: list[Op] = []
        self.polling = Polling(PollRecorder(Journal(lambda: 0, self.ops.append, "all"), "c1"), (A, B))

    def polls(self, *events):
        """One poll of the library that returns these; what was recorded of it."""
        self.ops.clear()
        self.polling.begin()
        self.polling.end(events)
        told = []
        for op in self.ops:
            if op.type == "invoke":
                told.append(f"{op.f}?")
            elif op.f == "assign":
                told.append(op.value)
            else:
                told.append(op.error or op.value[0][1])
        return told


@pytest.fixture
def reader():
    return Reader()


def test_nothing(reader):
    assert reader.polls() == ["poll?", {}]


def test_records_of_both_partitions_are_one_operation(reader):
    told = reader.polls(PolledRecord(A, 0, 1), PolledRecord(B, 0, 2), PolledRecord(A, 1, 3))
    assert told == ["poll?", {A: [(0, 1), (1, 3)], B: [(0, 2)]}]
    assert reader.polling.position == {A: 2, B: 1}


def test_a_gap_is_no_reset(reader):
    assert reader.polls(PolledRecord(A, 5, 1)) == ["poll?", {A: [(5, 1)]}]


def test_a_record_below_the_position_was_reached_by_a_reset(reader):
    reader.polls(PolledRecord(A, 0, 1), PolledRecord(A, 1, 2), PolledRecord(B, 0, 3))
    told = reader.polls(PolledRecord(A, 2, 4), PolledRecord(B, 1, 5), PolledRecord(A, 1, 6), PolledRecord(B, 2, 7))
    assert told == ["poll?", {A: [(2, 4)], B: [(1, 5)]}, "assign?", (B,), "poll?", {A: [(1, 6)], B: [(2, 7)]}]
    assert reader.polling.position == {A: 2, B: 3}


def test_the_same_record_again_is_a_reset(reader):
    reader.polls(PolledRecord(A, 0, 1))
    assert reader.polls(PolledRecord(A, 0, 1)) == ["poll?", {}, "assign?", (B,), "poll?", {A: [(0, 1)]}]


def test_an_error_fails_the_poll(reader):
    assert reader.polls(Trouble("UNKNOWN_SERVER_ERROR")) == ["poll?", "UNKNOWN_SERVER_ERROR"]


def test_an_error_between_records_takes_none_of_them_away(reader):
    told = reader.polls(PolledRecord(A, 0, 1), Trouble("X"), Trouble("Y"), PolledRecord(A, 1, 2))
    assert told == ["poll?", {A: [(0, 1)]}, "poll?", "X", "poll?", "Y", "poll?", {A: [(1, 2)]}]


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b"1000001", 1_000_001),
        (b"", ""),
        (b"-1", "-1"),
        (b"1_0", "1_0"),
        (b" 1", " 1"),
        (b"\xff", "\ufffd"),
        (None, None),
    ],
)
def test_values(raw, value):
    assert value_of(raw) == value
