"""The tail of a partition's log files."""

import pytest

from tidemark.nodes.formats.record_batch import build, read_header, values_of
from tidemark.nodes.sidecar.segment_tail import SegmentTail

LATEST = 1 << 31


@pytest.fixture
def log(tmp_path):
    directory = tmp_path / "t-0"
    directory.mkdir()
    return directory / f"{0:020}.log"


@pytest.fixture
def tail(log):
    found = SegmentTail(lambda: log.parent)
    yield found
    found.close()


def append(log, *batches):
    with log.open("ab") as file:
        file.write(b"".join(batches))


def cut(log, size):
    with log.open("r+b") as file:
        file.truncate(size)


def claimed(tail, first, end, *, newest_epoch=LATEST, cut_follows=False):
    found = tail.claim(first, end, newest_epoch=newest_epoch, cut_follows=cut_follows)
    return found and [(read_header(raw).base_offset, read_header(raw).leader_epoch, values_of(raw)) for raw in found]


def test_a_line_may_stand_for_several_batches(log, tail):
    append(log, build([1, 2], 0, 0), build([3], 2, 0))
    tail.look()
    assert claimed(tail, 0, 3) == [(0, 0, (1, 2)), (2, 0, (3,))]


def test_a_log_that_is_moved_is_read_on_where_it_is_then(tmp_path):
    homes = [tmp_path / name / "t-0" for name in ("first", "second")]
    for home in homes:
        home.mkdir(parents=True)
    where = [homes[0]]
    tail = SegmentTail(lambda: where[0])
    append(homes[0] / f"{0:020}.log", build([1], 0, 0))
    tail.look()
    append(homes[1] / f"{0:020}.log", build([1], 0, 0), build([2], 1, 0))
    where[0] = homes[1]
    tail.look()

    assert claimed(tail, 0, 1) == [(0, 0, (1,))]
    assert claimed(tail, 1, 2) == [(1, 0, (2,))]
    tail.close()


def test_nothing_is_there_yet(log, tail):
    tail.look()
    assert claimed(tail, 0, 1) is None
    append(log, build([1], 0, 0)[:-1])
    tail.look()
    assert claimed(tail, 0, 1) is None


def test_a_batch_that_was_cut_off_was_seen(log, tail):
    append(log, build([1], 0, 0), build([2], 1, 0))
    tail.look()
    cut(log, len(build([1], 0, 0)))
    tail.look()
    assert claimed(tail, 0, 1) == [(0, 0, (1,))]
    assert claimed(tail, 1, 2, cut_follows=True) == [(1, 0, (2,))]


def test_other_records_take_their_place(log, tail):
    append(log, build([1], 0, 0), build([2], 1, 0))
    tail.look()
    cut(log, len(build([1], 0, 0)))
    append(log, build([3], 1, 1))
    tail.look()
    # All lines come together: appended, cut, appended.
    assert claimed(tail, 0, 1) == [(0, 0, (1,))]
    assert claimed(tail, 1, 2, cut_follows=True) == [(1, 0, (2,))]
    tail.cut(1)
    assert claimed(tail, 1, 2) == [(1, 1, (3,))]


def test_what_was_first_seen_is_claimed_first_if_a_cut_follows(log, tail):
    append(log, build([1], 0, 0))
    tail.look()
    cut(log, 0)
    tail.look()
    append(log, build([2], 0, 1))
    tail.look()
    assert claimed(tail, 0, 1, newest_epoch=0, cut_follows=True) == [(0, 0, (1,))]
    tail.cut(0)
    assert claimed(tail, 0, 1) == [(0, 1, (2,))]


def test_a_later_leaders_records_are_not_taken_for_those_that_were_cut(log, tail):
    append(log, build([2], 0, 1))
    tail.look()
    assert claimed(tail, 0, 1, newest_epoch=0, cut_follows=True) is None


def test_records_of_the_same_size_between_two_looks(log, tail):
    """The file has its old size again, and only the lines say that it was cut."""
    append(log, build([1], 0, 0))
    tail.look()
    assert claimed(tail, 0, 1) == [(0, 0, (1,))]
    cut(log, 0)
    append(log, build([2], 0, 1))
    tail.look()
    tail.cut(0)
    tail.look()
    assert claimed(tail, 0, 1) == [(0, 1, (2,))]


def test_a_cut_that_is_told_before_it_is_made(log, tail):
    append(log, build([1], 0, 0))
    tail.look()
    claimed(tail, 0, 1)
    tail.cut(0)
    tail.look()
    cut(log, 0)
    append(log, build([2, 3, 4], 0, 1))
    assert claimed(tail, 0, 3) == [(0, 1, (2, 3, 4))]


def test_the_same_records_once_more(log, tail):
    for _ in range(3):
        append(log, build([1], 0, 0))
        tail.look()
        assert claimed(tail, 0, 1) == [(0, 0, (1,))]
        tail.cut(0)
        cut(log, 0)


def test_what_was_loaded_is_not_claimed(log, tail):
    append(log, build([1], 0, 0), build([2], 1, 0))
    tail.look()
    tail.loaded(1)
    assert tail._fresh.keys() == {1}
    assert claimed(tail, 1, 2) == [(1, 0, (2,))]


def test_a_second_segment(log, tail):
    append(log, build([1], 0, 0))
    tail.look()
    second = log.with_name(f"{1:020}.log")
    append(second, build([2], 1, 0))
    tail.look()
    assert claimed(tail, 0, 2) == [(0, 0, (1,)), (1, 0, (2,))]
    second.unlink()
    tail.cut(1)
    append(log, build([3], 1, 1))
    tail.look()
    assert claimed(tail, 1, 2) == [(1, 1, (3,))]


def test_a_log_that_begins_anew(log, tail):
    append(log, build([1], 0, 0))
    tail.look()
    claimed(tail, 0, 1)
    log.unlink()
    append(log.with_name(f"{7:020}.log"), build([8], 7, 2))
    tail.look()
    assert claimed(tail, 7, 8) == [(7, 2, (8,))]


def test_a_directory_that_comes_later_and_goes(tmp_path):
    tail = SegmentTail(lambda: tmp_path / "t-9")
    tail.look()
    (tmp_path / "t-9").mkdir()
    file = tmp_path / "t-9" / f"{0:020}.log"
    append(file, build([1], 0, 0))
    tail.look()
    assert claimed(tail, 0, 1) == [(0, 0, (1,))]
    file.unlink()
    (tmp_path / "t-9").rmdir()
    tail.look()
    assert claimed(tail, 0, 1) is None
    tail.close()


def test_a_log_that_was_set_aside_is_another_than_the_one_that_comes_after_it(log, tmp_path):
    """A replica that is removed and comes back: the first log's files stay a while, under another name."""
    first = SegmentTail(lambda: log.parent)
    append(log, build([1], 0, 0), build([2], 1, 0))
    first.look()
    log.parent.rename(tmp_path / "t-0.0123-delete")
    first.close()
    again = SegmentTail(lambda: log.parent)
    log.parent.mkdir()
    append(log, build([1], 0, 0), build([9], 1, 1))

    assert claimed(again, 0, 2) == [(0, 0, (1,)), (1, 1, (9,))]
    again.close()
