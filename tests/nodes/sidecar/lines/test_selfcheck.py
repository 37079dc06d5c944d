from __future__ import annotations

import pytest

from tidemark.nodes.sidecar.line_events import Appended, Loaded, Truncated, TruncatedFully
from tidemark.nodes.sidecar.lines import disagreement

T = "t-0"
WROTE = [Loaded(T, 0), Appended(T, 0, 3), Appended(T, 3, 5)]


def test_a_log_that_was_appended_to():
    assert disagreement(T, WROTE, [(0, 3, 0), (3, 5, 1)], [(0, 0), (1, 3)]) is None


def test_other_partitions_do_not_count():
    assert disagreement(T, [*WROTE, Appended("t-1", 0, 9)], [(0, 5, 0)]) is None


def test_nothing_was_told_and_nothing_is_there():
    assert disagreement(T, [], []) is None


def test_records_of_which_no_line_told():
    assert disagreement(T, [], [(0, 1, 0)]) == "t-0 has records, but no line told of its log"


def test_files_that_end_elsewhere():
    assert disagreement(T, WROTE, [(0, 3, 0)]) == "the lines say that t-0 ends at 5, its files end at 3"


def test_files_that_end_elsewhere_after_a_kill():
    assert disagreement(T, WROTE, [(0, 3, 0), (3, 5, 0), (5, 6, 0)], killed=True) is None


def test_a_gap_between_two_appends():
    found = disagreement(T, [*WROTE, Appended(T, 6, 7)], [(0, 7, 0)])
    assert found == "t-0 got offset 6, but its lines said that it ends at 5"


def test_an_append_of_nothing():
    assert disagreement(T, [Loaded(T, 3), Appended(T, 3, 3)], []) == "t-0 got offsets 3 to 3, which is nothing"


def test_a_cut_above_the_end():
    assert (
        disagreement(T, [*WROTE, Truncated(T, 6, "")], []) == "t-0 was cut at 6, but its lines said that it ends at 5"
    )


@pytest.mark.parametrize("batches", [[(0, 3, 0)], [(0, 3, 0), (3, 4, 0)]])
def test_a_cut_takes_a_batch_that_it_goes_through(batches):
    assert disagreement(T, [*WROTE, Truncated(T, 4, "")], batches) is None


@pytest.mark.parametrize("first", [3, 4])
def test_after_a_cut_through_a_batch_it_comes_again_or_a_hole_is_left(first):
    events = [*WROTE, Truncated(T, 4, ""), Appended(T, first, 8)]
    assert disagreement(T, events, [(0, 3, 0), (first, 8, 0)]) is None


def test_what_comes_after_the_first_append_must_fit_again():
    events = [*WROTE, Truncated(T, 4, ""), Appended(T, 3, 8), Appended(T, 7, 9)]
    assert disagreement(T, events, []) == "t-0 got offset 7, but its lines said that it ends at 8"


def test_a_log_that_was_dropped():
    events = [*WROTE, TruncatedFully(T, 12), Appended(T, 12, 13)]
    assert disagreement(T, events, [(12, 13, 2)], [(2, 12)]) is None
    assert disagreement(T, events[:-1], []) is None


def test_a_log_that_was_dropped_may_take_a_whole_batch_from_below():
    events = [*WROTE, TruncatedFully(T, 12), Appended(T, 10, 13)]
    assert disagreement(T, events, [(10, 13, 2)]) is None


def test_a_life_that_begins_with_a_known_log():
    assert disagreement(T, [Appended(T, 5, 6)], [(0, 6, 0)], before=5) is None


def test_files_that_overlap():
    assert disagreement(T, [Loaded(T, 5)], [(0, 3, 0), (2, 5, 0)]) == "the files of t-0 go from offset 3 to 2"


@pytest.mark.parametrize("cache", [[(0, 0)], [(1, 0)], [(0, 0), (1, 4)]])
def test_an_epoch_cache_that_does_not_fit_the_files(cache):
    found = disagreement(T, WROTE, [(0, 3, 0), (3, 5, 1)], cache)
    assert found is not None
    assert "its epoch cache says" in found


def test_what_retention_gave_up_is_not_in_the_cache():
    assert disagreement(T, WROTE, [(0, 3, 0), (3, 5, 1)], [(1, 3)]) is None
