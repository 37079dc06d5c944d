"""The simulated disk: what a process crash, a power loss and a new disk leave."""

from collections import Counter
from random import Random

import pytest

from tidemark.harness.simulator.disk import SimDisk
from tidemark.harness.simulator.steady import Steady
from tidemark.nemesis.damage import Damage
from tidemark.nodes.core.damage import CUT_TAIL, FLIP_BITS
from tidemark.nodes.core.log import Batch
from tidemark.nodes.core.recovery import recover

T = "t-0"
SECOND = 1_000_000


def disk_of(count, *, at=0):
    """So many batches of two records, written at a time."""
    disk = SimDisk()
    for number in range(count):
        disk.append(at, T, Batch(2 * number, 0, (number, number)))
    return disk


def found(disk):
    """The base offsets a starting process finds after recovery."""
    recovered = recover(disk.load()).partitions.get(T)
    return [] if recovered is None else [batch.base for batch in recovered.batches]


def lost_power(disk, now, seed=1):
    disk.lose_power(now, Random(seed))
    return found(disk)


def test_what_was_written_survives_a_crash_of_the_process():
    assert found(disk_of(3)) == [0, 2, 4]


def test_what_was_synced_survives_a_power_loss():
    for seed in range(20):
        disk = disk_of(3)
        disk.sync(T)
        assert lost_power(disk, 1, seed) == [0, 2, 4]


def test_a_mark_that_nobody_synced_is_safe_when_it_is_old_and_until_the_power_goes():
    def marks(synced, *at):
        found = set()
        for seed in range(20):
            disk = SimDisk()
            disk.mark_clean(5, 0, synced=synced)
            for time in at:
                disk.lose_power(time, Random(seed + time))
            found.add(disk.load().clean_broker_epoch)
        return found

    assert marks(True, 1, 2) == marks(False) == marks(False, 3 * SECOND) == {5}
    assert marks(False, 1) == marks(False, 3 * SECOND - 1) == {None, 5}


def test_only_what_was_synced_survives_the_loss_of_the_page_cache():
    disk = disk_of(2, at=-9 * SECOND)
    disk.sync(T)
    disk.append(-9 * SECOND, T, Batch(4, 0, (9, 9)))
    disk.keep_synced()

    assert found(disk) == [0, 2]
    disk.append(0, T, Batch(4, 0, (8, 8)))
    assert found(disk) == [0, 2, 4]


def test_of_the_rest_any_prefix_does():
    ends = Counter()
    for seed in range(200):
        disk = disk_of(2)
        disk.sync(T)
        disk.append(0, T, Batch(4, 0, (9, 9)))
        disk.append(0, T, Batch(6, 0, (9, 9)))
        ends[tuple(lost_power(disk, 1, seed))] += 1

    assert set(ends) == {(0, 2), (0, 2, 4), (0, 2, 4, 6)}
    assert min(ends.values()) > 40


def test_what_is_old_enough_was_written_back_by_the_kernel():
    for seed in range(20):
        assert lost_power(disk_of(3), 3 * SECOND, seed) == [0, 2, 4]
    assert {len(lost_power(disk_of(3), 3 * SECOND - 1, seed)) for seed in range(40)} == {0, 1, 2, 3}


def test_the_first_lost_batch_may_be_torn_and_recovery_drops_it():
    torn = 0
    for seed in range(100):
        disk = disk_of(3)
        disk.lose_power(1, Random(seed))
        stored = disk.load().partitions[T].batches
        broken = [s for s in stored if not s.sound]
        torn += len(broken)
        assert broken in ([], stored[-1:])
        assert all(len(s.batch.values) < 2 for s in broken)

    assert 10 < torn < 50


def test_what_lies_behind_a_broken_batch_is_there_for_one_start():
    disk = disk_of(5)
    disk.damage(Damage(FLIP_BITS, 1, 0, 0), Random(4))
    first, second = (disk.load().partitions[T].batches for _ in range(2))
    broken = next(place for place, stored in enumerate(first) if not stored.sound)

    assert len(first) == 5
    assert broken < 4
    assert all(stored.sound for stored in first[broken + 1 :])
    assert second == first[:broken]


def test_behind_a_cut_there_is_nothing():
    disk = disk_of(5)
    disk.damage(Damage(CUT_TAIL, 500, 0, 0), Random(4))
    batches = disk.load().partitions[T].batches

    assert [stored.sound for stored in batches] == [True, True, False]


def test_a_torn_batch_is_gone_after_one_recovery():
    for seed in range(100):
        disk = disk_of(3)
        before = lost_power(disk, 1, seed)
        assert found(disk) == before


def test_a_power_loss_leaves_what_was_truncated_truncated():
    disk = disk_of(3)
    disk.sync(T)
    disk.truncate(T, 2)
    disk.append(0, T, Batch(2, 1, (8, 8)))
    ends = set()
    for seed in range(40):
        copy = disk_of(3)
        copy.sync(T)
        copy.truncate(T, 2)
        copy.append(0, T, Batch(2, 1, (8, 8)))
        ends.add(tuple(lost_power(copy, 1, seed)))

    assert ends == {(0,), (0, 2)}


def test_truncation_cuts_at_a_batch_boundary():
    disk = disk_of(3)
    disk.truncate(T, 2)

    assert found(disk) == [0]


def test_checkpoints_are_renamed_into_place_and_survive_a_power_loss():
    disk = disk_of(2)
    disk.high_watermarks = {T: 1}
    disk.file(T).epochs = ((0, 0),)
    disk.sync(T)
    disk.lose_power(1, Random(1))
    image = disk.load()

    assert image.high_watermarks == {T: 1}
    assert image.partitions[T].epochs == ((0, 0),)


def test_the_clean_mark_is_deleted_when_loading_begins():
    disk = disk_of(1)
    disk.clean_broker_epoch = 7

    assert disk.load().clean_broker_epoch == 7
    assert disk.load().clean_broker_epoch is None


def test_a_new_disk_is_empty():
    disk = disk_of(2)
    disk.high_watermarks = {T: 1}
    disk.clean_broker_epoch = 7
    disk.wipe()
    image = disk.load()

    assert (image.partitions, image.high_watermarks, image.clean_broker_epoch) == ({}, {}, None)


@pytest.mark.parametrize("count", [0, 1])
def test_losing_power_with_nothing_to_lose_loses_nothing(count):
    disk = disk_of(count)
    disk.sync(T)

    assert len(lost_power(disk, 1)) == count


BOTH = frozenset({"cuts", "files"})
BY_FILE = BOTH | {"by-file"}


def cut_disk(*, syncs_directories=False):
    """Three records of epoch 0 that were synced; cut to one at 50, and one of epoch 1 written behind that at 60."""
    disk = SimDisk(syncs_directories=syncs_directories)
    for offset in range(3):
        disk.append(10, T, Batch(offset, 0, (offset,)))
    disk.sync(T)
    disk.write_epochs(T, ((0, 0),), 11)
    disk.write_checkpoint("high_watermarks", {T: 3}, 12)
    disk.truncate(T, 1, 50)
    disk.append(60, T, Batch(1, 1, (7,)))
    disk.write_epochs(T, ((0, 0), (1, 1)), 61)
    disk.write_checkpoint("high_watermarks", {T: 1}, 62)
    return disk


def epochs_of(disk):
    return [batch.epoch for batch in disk.file(T).batches]


def test_a_power_loss_takes_a_truncation_back_where_each_file_is_committed_by_itself():
    disk = cut_disk()
    disk.take_back(40, BY_FILE)
    disk.lose_power(70, Steady(0.0))

    assert epochs_of(disk) == [0, 0, 0]
    assert disk.came_back == {T: 1}
    assert (disk.file(T).epochs, disk.high_watermarks) == (((0, 0),), {T: 3})
    disk.load()
    assert disk.came_back == {}


def test_where_metadata_is_in_order_a_sync_of_any_file_commits_the_truncation():
    """As ext4 and XFS do: the epochs were synced at 61, and at 62 the temporary file whose renaming alone is not committed."""
    disk = cut_disk()
    disk.take_back(40, BOTH)

    assert epochs_of(disk) == [0, 1]
    assert (disk.file(T).epochs, disk.high_watermarks) == (((0, 0), (1, 1)), {T: 3})


def test_what_no_sync_came_after_is_taken_back_there_too():
    disk = cut_disk()
    disk.truncate(T, 0, 65)
    disk.take_back(40, frozenset({"cuts"}))

    assert epochs_of(disk) == [0, 1]
    assert disk.came_back == {T: 0}


def test_a_vote_is_a_sync():
    disk = cut_disk()
    disk.truncate(T, 0, 65)
    disk.write_vote(T, 3, 1)
    disk.take_back(40, BOTH)

    assert epochs_of(disk) == []
    assert (disk.high_watermarks, disk.votes) == ({T: 1}, {T: (3, 1)})


@pytest.mark.parametrize("what", [BOTH, BY_FILE])
def test_a_file_whose_directory_was_synced_stays_replaced(what):
    disk = cut_disk(syncs_directories=True)
    disk.take_back(40, what)

    assert (disk.file(T).epochs, disk.high_watermarks) == (((0, 0), (1, 1)), {T: 1})


@pytest.mark.parametrize(("since", "what"), [(55, BY_FILE), (40, BY_FILE - {"cuts"})])
def test_but_not_one_that_was_committed_or_is_not_meant(since, what):
    disk = cut_disk()
    disk.take_back(since, what)

    assert epochs_of(disk) == [0, 1]
    assert disk.high_watermarks == {T: 3}


def test_nor_checkpoints_that_are_not_meant():
    disk = cut_disk()
    disk.take_back(40, frozenset({"cuts", "by-file"}))

    assert (disk.file(T).epochs, disk.high_watermarks) == (((0, 0), (1, 1)), {T: 1})


def test_a_sync_commits_the_cut():
    disk = cut_disk()
    disk.sync(T)
    disk.take_back(40, BY_FILE)

    assert epochs_of(disk) == [0, 1]


@pytest.mark.parametrize("lose", [lambda disk: disk.lose_power(65, Steady(0.0)), lambda disk: disk.keep_synced()])
def test_what_a_power_loss_left_is_not_taken_back_by_the_next(lose):
    disk = cut_disk()
    lose(disk)
    left = epochs_of(disk)
    disk.take_back(40, BY_FILE)

    assert (epochs_of(disk), disk.came_back, disk.high_watermarks) == (left, {}, {T: 1})


def test_one_cut_after_another_comes_back():
    disk = cut_disk()
    disk.truncate(T, 0, 65)
    disk.take_back(40, BY_FILE)

    assert epochs_of(disk) == [0, 0, 0]
    assert disk.came_back == {T: 0}


def test_of_what_came_back_survives_what_was_written_before_and_any_prefix_more():
    ends = set()
    for seed in range(60):
        disk = SimDisk()
        for offset in range(4):
            disk.append(45 if offset else 39, T, Batch(offset, 0, (offset,)))
        disk.truncate(T, 0, 50)
        disk.take_back(40, BOTH)
        disk.lose_power(70, Random(seed))
        ends.add(len(disk.file(T).batches))

    assert ends == {1, 2, 3, 4}


# Damage


def damaged(disk, how, amount, pick=0, seed=1):
    disk.damage(Damage(how, amount, pick, 0), Random(seed))
    return found(disk)


@pytest.mark.parametrize(("share", "left"), [(500, [0, 2]), (600, [0]), (1, [0, 2, 4]), (1000, [])])
def test_a_cut_tail_takes_batches_and_breaks_the_one_it_falls_into(share, left):
    assert damaged(disk_of(4), "cut-tail", share) == left


def test_a_log_ends_at_the_first_batch_in_which_a_bit_was_flipped():
    ends = {len(damaged(disk_of(4), "flip-bits", 1, seed=seed)) for seed in range(40)}

    assert ends == {0, 1, 2, 3}
    assert all(len(damaged(disk_of(4), "flip-bits", 1000, seed=seed)) == 0 for seed in range(5))


def test_what_was_synced_is_damaged_too_and_no_mark_beside_it_is_believed():
    disk = disk_of(4)
    disk.sync(T)
    disk.mark_clean(5, 0, synced=True)
    disk.damage(Damage("flip-bits", 1000, 0, 0), Random(1))

    assert disk.load().clean_broker_epoch is None
    assert disk.file(T).synced == 0


def test_an_empty_disk_has_nothing_to_damage():
    assert damaged(SimDisk(), "flip-bits", 5) == []
