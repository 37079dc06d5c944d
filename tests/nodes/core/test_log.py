"""The log of one replica: batches are appended, read and cut as wholes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.nodes.core.log import Batch, Log, OutOfOrderError


def log_of(*sizes):
    """Batches of these sizes; every record is the number of its offset."""
    log = Log()
    for size in sizes:
        log.append(Batch(log.leo, 0, tuple(range(log.leo, log.leo + size))))
    return log


def test_an_empty_log_ends_where_it_starts():
    assert Log().leo == 0
    assert Log(start=5).leo == 5


def test_a_log_of_recovered_batches_ends_behind_the_last():
    assert Log([Batch(0, 0, (1, 2)), Batch(2, 1, (3,))]).leo == 3


def test_the_end_of_a_batch_is_exclusive():
    assert Batch(4, 0, (7, 8, 9)).end == 7


def test_a_batch_must_not_begin_below_the_logs_end():
    log = log_of(3)
    with pytest.raises(OutOfOrderError):
        log.append(Batch(2, 0, (9,)))

    assert log.leo == 3
    assert len(log.batches) == 1


def test_a_batch_behind_the_logs_end_leaves_a_hole():
    log = log_of(3)
    log.append(Batch(5, 0, (9,)))

    assert log.leo == 6
    assert [[batch.base for batch in log.read(offset, 9)] for offset in (2, 3, 4, 5, 6)] == [[0, 5], [5], [5], [5], []]


@pytest.mark.parametrize(
    ("offset", "records_end"),
    [
        pytest.param(0, 0, id="at the start: everything goes"),
        pytest.param(2, 2, id="at a boundary"),
        pytest.param(3, 2, id="in the middle of a batch: all of it goes"),
        pytest.param(4, 2, id="before the last record of a batch as well"),
        pytest.param(5, 5, id="at the next boundary"),
        pytest.param(1, 0, id="in the middle of the first batch"),
        pytest.param(6, 6, id="at the end: nothing goes"),
        pytest.param(9, 6, id="beyond the end: nothing goes"),
    ],
)
def test_truncation_drops_whole_batches_and_goes_on_where_it_cut(offset, records_end):
    log = log_of(2, 3, 1)

    assert log.truncate(offset) == records_end
    assert log.leo == min(offset, 6)
    assert [batch.base for batch in log.batches] == [base for base in (0, 2, 5) if base < records_end]


def test_kip_279_scenario_1_a_cut_at_21_goes_down_to_11():
    """Broker B has offsets 0-10 and one batch 11-n with n > 20; broker A names 21. Kafka goes on there (``Log.truncateTo``)."""
    log = log_of(11, 15)

    assert log.truncate(21) == 11
    assert log.read(11, 9) == []
    log.append(Batch(21, 3, (1,)))
    assert [batch.base for batch in log.read(11, 9)] == [21]


@pytest.mark.parametrize(
    ("offset", "limit", "bases"),
    [
        pytest.param(0, 9, [0, 2, 5], id="everything"),
        pytest.param(0, 2, [0, 2], id="so many batches"),
        pytest.param(3, 9, [2, 5], id="from the batch that holds the offset on"),
        pytest.param(2, 1, [2], id="one"),
        pytest.param(5, 9, [5], id="the last batch"),
        pytest.param(6, 9, [], id="the end"),
        pytest.param(7, 9, [], id="beyond the end"),
    ],
)
def test_reading_gives_whole_batches(offset, limit, bases):
    assert [batch.base for batch in log_of(2, 3, 1).read(offset, limit)] == bases


STEPS = st.lists(st.tuples(st.sampled_from(["append", "truncate"]), st.integers(1, 20)), max_size=30)


@given(STEPS, st.integers(0, 60), st.integers(1, 5))
def test_the_log_is_a_list_of_records_that_know_their_batch(steps, offset, limit):
    log, model, number, leo = Log(), {}, 0, 0
    for what, amount in steps:
        if what == "append":
            size, number = amount % 4 + 1, number + 1
            log.append(Batch(leo, 0, tuple((number, at) for at in range(size))))
            model |= {leo + at: (number, at, size) for at in range(size)}
            leo += size
        else:
            leo = min(leo, amount)
            cut = {number for at, (number, _, _) in model.items() if at >= amount}
            model = {at: record for at, record in model.items() if record[0] not in cut}
            records_end = log.truncate(amount)
            assert not model or records_end == max(model) + 1

    assert log.leo == leo
    assert [value for batch in log.batches for value in batch.values] == [record[:2] for record in model.values()]

    wanted = list(dict.fromkeys(record[0] for at, record in model.items() if at >= offset))[:limit]
    assert [batch.values[0][0] for batch in log.read(offset, limit)] == wanted


# The log start


def test_a_log_begins_where_its_first_batch_does_and_may_start_later():
    log = Log([Batch(3, 0, (1, 2))], start=4)

    assert (log.base, log.start, log.leo) == (3, 4, 5)


@pytest.mark.parametrize(("start", "leo"), [(0, 0), (5, 5)])
def test_an_empty_log_begins_where_it_ends(start, leo):
    assert (Log(start=start).base, Log(start=start).leo) == (leo, leo)


@pytest.mark.parametrize(
    ("offset", "records_end", "start"),
    [
        pytest.param(9, 9, 4, id="above the log start: it stays"),
        pytest.param(6, 5, 4, id="inside a batch above it"),
        pytest.param(4, 3, 4, id="at it, inside a batch: the batch goes, and the log is empty from there on"),
        pytest.param(3, 3, 3, id="where its batch begins"),
        pytest.param(2, 0, 2, id="below it, inside a batch that was deleted"),
    ],
)
def test_a_cut_takes_the_log_start_down_if_it_must(offset, records_end, start):
    log = log_of(3, 2, 4)
    log.start = 4

    assert log.truncate(offset) == records_end
    assert (log.leo, log.start) == (offset, start)


def test_a_cut_below_all_batches_leaves_an_empty_log_there():
    log = Log([Batch(5, 0, (1, 2))], start=5)

    assert log.truncate(3) == 3
    assert (log.batches, log.start, log.leo) == ([], 3, 3)


def test_a_log_may_begin_anew_above_its_end():
    log = log_of(3)
    log.begin_at(7)

    assert (log.batches, log.start, log.leo) == ([], 7, 7)
    log.append(Batch(7, 1, (8,)))
    assert log.leo == 8


@pytest.mark.parametrize(("offset", "bases"), [(0, [0, 3, 5]), (2, [0, 3, 5]), (3, [3, 5]), (8, [5]), (9, [])])
def test_old_batches_are_dropped_as_wholes(offset, bases):
    log = log_of(3, 2, 4)
    log.drop(offset)

    assert [batch.base for batch in log.batches] == bases
    assert log.leo == 9
