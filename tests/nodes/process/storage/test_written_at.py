"""When a log was written: positions and times, and what a cut takes back."""

import os

import pytest

from tidemark.nodes.process.storage import written_at
from tidemark.nodes.process.storage.written_at import WrittenAt, old_until


@pytest.fixture
def clock(monkeypatch):
    """Milliseconds that a test sets."""

    class Clock:
        now = 0

    monkeypatch.setattr(written_at, "now_ms", lambda: Clock.now)
    return Clock


@pytest.fixture
def path(tmp_path):
    return tmp_path / "written-at"


@pytest.fixture
def notes(path, clock):
    notes = WrittenAt(path)
    yield notes
    notes.close()


def note(notes, clock, *pairs):
    for position, at in pairs:
        clock.now = at
        notes.note(position)


def test_nothing_is_old_where_nothing_is_noted(path, notes):
    assert old_until(path, 10**9) == 0
    assert old_until(path.with_name("missing"), 10**9) == 0


def test_what_was_written_until_then_is_old(path, notes, clock):
    note(notes, clock, (100, 1), (200, 2), (300, 2), (400, 5))

    assert [old_until(path, before) for before in (0, 1, 2, 4, 5)] == [0, 100, 300, 300, 400]


@pytest.mark.parametrize("end", [150, 200, 250])
def test_what_is_written_after_a_cut_overtakes_what_was_cut(path, notes, clock, end):
    note(notes, clock, (100, 1), (200, 2), (300, 3), (end, 9))

    assert old_until(path, 0) == 0
    assert 100 <= old_until(path, 8) < end
    assert old_until(path, 9) == end


def test_a_new_process_carries_on(path, notes, clock):
    note(notes, clock, (100, 1))
    again = WrittenAt(path)
    try:
        note(again, clock, (200, 4))
    finally:
        again.close()

    assert [old_until(path, before) for before in (1, 4)] == [100, 200]


def test_half_a_note_is_overlooked_and_overwritten(path, notes, clock):
    note(notes, clock, (100, 1), (200, 2))
    os.truncate(path, path.stat().st_size - 3)
    assert old_until(path, 5) == 100

    again = WrittenAt(path)
    try:
        note(again, clock, (300, 3))
    finally:
        again.close()
    assert old_until(path, 5) == 300


def test_positions_count_from_a_new_beginning(path, notes, clock):
    note(notes, clock, (100, 1), (250, 2), (300, 4))
    notes.drop(100)
    note(notes, clock, (260, 7))

    assert [old_until(path, before) for before in (1, 2, 4, 7)] == [0, 150, 200, 260]


def test_a_log_that_is_dropped_whole_is_not_old(path, notes, clock):
    note(notes, clock, (100, 1), (250, 2))
    notes.drop(250)

    assert old_until(path, 9) == 0
