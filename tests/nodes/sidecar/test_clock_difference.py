"""The difference of two clocks stays what it was while nobody moves one, however late the second is read."""

import pytest

from tidemark.nodes.sidecar import clock_difference
from tidemark.nodes.sidecar.clock_difference import ClockDifference

AHEAD_US = 7_000_000


@pytest.fixture
def clocks(monkeypatch):
    """Looks at a difference: µs that pass between the three readings, and by how much the wall clock was moved."""
    now_ns = [1_000_000]
    found = ClockDifference()

    def look(*passes, moved=0, part_ns=0):
        rests = list(passes)

        def monotonic_ns():
            at_ns = now_ns[0]
            now_ns[0] += rests.pop(0) * 1000 if rests else 0
            return at_ns

        def time_ns():
            at_ns = now_ns[0] + (AHEAD_US + moved) * 1000 + part_ns
            now_ns[0] += rests.pop(0) * 1000 + 137
            return at_ns

        monkeypatch.setattr(clock_difference.time, "monotonic_ns", monotonic_ns)
        monkeypatch.setattr(clock_difference.time, "time_ns", time_ns)
        return found.ahead_us()

    return look


@pytest.mark.parametrize("late", [(12_000, 0), (0, 12_000), (9_000, 4_000)])
def test_a_process_that_is_put_aside_between_its_readings_finds_what_it_found_before(clocks, late):
    assert clocks(0, 0) == AHEAD_US

    assert clocks(*late) == AHEAD_US


def test_a_first_look_that_was_wide_is_corrected_by_the_next(clocks):
    clocks(12_000, 0)

    assert clocks(0, 0) == AHEAD_US


@pytest.mark.parametrize("moved", [-60_000_000, 60_000_000])
def test_a_clock_that_was_moved_is_followed_at_once(clocks, moved):
    clocks(0, 0)

    found = clocks(0, 0, moved=moved)

    assert found == pytest.approx(AHEAD_US + moved, abs=1)
    assert clocks(3_000, 3_000, moved=moved) == found


def test_the_parts_of_a_microsecond_change_nothing(clocks):
    found = {clocks(0, 0, part_ns=400) for _ in range(50)}

    assert len(found) == 1
