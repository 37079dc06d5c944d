"""The leader-epoch cache (docs/protocol.md, "Leader epochs"), by literals and against the log it describes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.nodes.core.epoch_cache import EpochCache, EpochCache011
from tidemark.nodes.core.log import Batch, Log

THREE = ((0, 0), (2, 5), (5, 8))
"""Epoch 0 from offset 0, epoch 2 from 5, epoch 5 from 8; the log ends at 10."""


def assigned(entries, epoch, start, kind=EpochCache):
    cache = kind(entries)
    changed = cache.assign(epoch, start)
    return changed, cache.entries()


@pytest.mark.parametrize(("epoch", "start"), [(-1, 0), (0, -1)])
def test_a_negative_epoch_or_offset_is_an_error(epoch, start):
    with pytest.raises(ValueError, match="must not be negative"):
        EpochCache().assign(epoch, start)


def test_the_latest_epoch_of_an_empty_cache_is_undefined():
    assert EpochCache().latest == -1


def test_the_first_epoch_is_noted():
    assert assigned((), 3, 7) == (True, ((3, 7),))


def test_a_newer_epoch_is_appended():
    assert assigned(THREE, 6, 9) == (True, (*THREE, (6, 9)))


def test_a_further_batch_of_the_latest_epoch_changes_nothing():
    assert assigned(THREE, 5, 9) == (False, THREE)


def test_the_latest_epoch_assigned_lower_moves_there():
    assert assigned(THREE, 5, 7) == (True, ((0, 0), (2, 5), (5, 7)))


def test_a_newer_epoch_at_an_older_offset_drops_the_epochs_it_overwrites():
    assert assigned(THREE, 6, 5) == (True, ((0, 0), (6, 5)))


def test_an_older_epoch_drops_the_newer_ones():
    assert assigned(THREE, 3, 9) == (True, ((0, 0), (2, 5), (3, 9)))


def test_an_older_known_epoch_assigned_again_begins_at_the_new_offset():
    assert assigned(THREE, 2, 9) == (True, ((0, 0), (2, 9)))


def test_the_newest_assignment_wins_over_everything():
    assert assigned(THREE, 0, 0) == (True, ((0, 0),))


def test_assigning_moves_the_latest_epoch():
    cache = EpochCache(THREE)
    cache.assign(3, 9)

    assert cache.latest == 3


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        pytest.param(-1, (-1, -1), id="undefined is answered undefined"),
        pytest.param(5, (5, 10), id="the latest epoch ends at the log's end"),
        pytest.param(6, (-1, -1), id="an epoch above all known ones is undefined"),
        pytest.param(2, (2, 8), id="a known epoch ends where the next begins"),
        pytest.param(3, (2, 8), id="an unknown epoch is answered with the largest below it"),
        pytest.param(1, (0, 5), id="so is one in another gap"),
        pytest.param(0, (0, 5), id="the first epoch"),
    ],
)
def test_the_end_offset_for_an_epoch(asked, answer):
    assert EpochCache(THREE).end_offset_for(asked, 10) == answer


def test_an_epoch_below_all_known_ones_ends_where_the_lowest_begins():
    assert EpochCache(((3, 4), (5, 8))).end_offset_for(1, 10) == (1, 4)


def test_an_empty_cache_knows_no_end():
    assert EpochCache().end_offset_for(0, 10) == (-1, -1)


def test_truncation_from_the_end_drops_epochs_that_begin_at_or_after_the_offset():
    cache = EpochCache(THREE)

    assert cache.truncate_from_end(5)
    assert cache.entries() == ((0, 0),)
    assert cache.latest == 0


def test_truncation_behind_the_last_epochs_start_changes_nothing():
    cache = EpochCache(THREE)

    assert not cache.truncate_from_end(9)
    assert cache.entries() == THREE


def test_truncation_to_zero_empties_the_cache():
    cache = EpochCache(THREE)

    assert cache.truncate_from_end(0)
    assert (cache.entries(), cache.latest) == ((), -1)


@pytest.mark.parametrize(
    ("offset", "left"),
    [
        pytest.param(0, THREE, id="at the log's start nothing changes"),
        pytest.param(3, ((0, 3), (2, 5), (5, 8)), id="the epoch that holds the offset begins there"),
        pytest.param(5, ((2, 5), (5, 8)), id="an epoch that ends at the offset goes"),
        pytest.param(6, ((2, 6), (5, 8)), id="and the next is moved"),
        pytest.param(10, ((5, 10),), id="the latest epoch always stays"),
    ],
)
def test_truncation_from_the_start(offset, left):
    cache = EpochCache(THREE)
    changed = cache.truncate_from_start(offset)

    assert cache.entries() == left
    assert changed == (left != THREE)
    assert cache.latest == 5


def test_truncation_from_the_start_leaves_an_empty_cache_alone():
    assert not EpochCache().truncate_from_start(4)


# 0.11


@pytest.mark.parametrize(
    ("epoch", "start"),
    [
        pytest.param(5, 7, id="the latest epoch again, lower"),
        pytest.param(3, 9, id="an older epoch"),
        pytest.param(6, 7, id="a newer epoch that begins before the latest does"),
    ],
)
def test_0_11_ignores_an_assignment_that_is_not_newer_in_both_epoch_and_offset(epoch, start):
    assert assigned(THREE, epoch, start, EpochCache011) == (False, THREE)


def test_0_11_takes_a_newer_epoch_at_the_same_offset_or_later():
    assert assigned(((0, 0), (2, 5)), 3, 9, EpochCache011) == (True, ((0, 0), (2, 5), (3, 9)))
    assert assigned((), 3, 9, EpochCache011) == (True, ((3, 9),))


@pytest.mark.parametrize(
    ("asked", "offset"),
    [
        pytest.param(-1, -1, id="undefined"),
        pytest.param(1, -1, id="below the first epoch is undefined"),
        pytest.param(7, -1, id="above all epochs is undefined"),
        pytest.param(6, 10, id="the latest ends at the log's end"),
        pytest.param(3, 8, id="a known epoch ends where the next begins"),
        pytest.param(4, 8, id="an unknown epoch ends where the first higher one begins"),
    ],
)
def test_0_11_answers_an_offset(asked, offset):
    assert EpochCache011(((3, 4), (6, 8))).end_offset_for(asked, 10).offset == offset


def test_0_11_knows_no_end_while_it_is_empty():
    assert EpochCache011().end_offset_for(0, 10).offset == -1


# Against the log

APPEND = st.tuples(st.just("append"), st.integers(0, 2), st.integers(1, 3))
"""An epoch as much above the log's last one, and so many records."""
TRUNCATE = st.tuples(st.just("truncate"), st.integers(0, 30), st.none())
STEPS = st.lists(APPEND | TRUNCATE, max_size=40)


def replayed(steps):
    """A log and its epoch cache, kept as a replica keeps them, and cut where batches end."""
    log, cache = Log(), EpochCache()
    for what, number, size in steps:
        if what == "append":
            epoch = number + (log.batches[-1].epoch if log.batches else 0)
            cache.assign(epoch, log.leo)
            log.append(Batch(log.leo, epoch, (7,) * size))
        else:
            log.truncate(max((batch.end for batch in log.batches if batch.end <= number), default=0))
            cache.truncate_from_end(log.leo)
    return log, cache


@given(STEPS)
def test_the_cache_is_what_the_logs_batches_say(steps):
    log, cache = replayed(steps)
    first = {}
    for batch in log.batches:
        first.setdefault(batch.epoch, batch.base)

    assert cache.entries() == tuple(first.items())
    assert cache.latest == (log.batches[-1].epoch if log.batches else -1)


@given(STEPS, st.integers(0, 60))
def test_the_answer_is_the_last_record_whose_epoch_is_not_above_the_one_asked_for(steps, asked):
    log, cache = replayed(steps)
    not_above = [batch.epoch for batch in log.batches if batch.epoch <= asked]
    above = [batch.base for batch in log.batches if batch.epoch > asked]
    known = log.batches and asked <= log.batches[-1].epoch
    expected = (max(not_above, default=asked), min(above, default=log.leo)) if known else (-1, -1)

    assert cache.end_offset_for(asked, log.leo) == expected


def test_a_log_that_begins_anew_has_no_epochs():
    cache = EpochCache(THREE)

    assert cache.clear()
    assert (cache.entries(), cache.latest) == ((), -1)
    assert not cache.clear()
