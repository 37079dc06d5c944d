"""What a broker finds when it starts, and what it leaves."""

import shutil

import pytest

from tidemark.nodes.core.actions import (
    Append,
    Delete,
    Halt,
    MarkCleanShutdown,
    Sync,
    Truncate,
    WriteEpochs,
    WriteHighWatermarks,
    WriteVote,
)
from tidemark.nodes.core.log import Batch
from tidemark.nodes.core.recovery import recover
from tidemark.nodes.formats.checkpoints import CheckpointError
from tidemark.nodes.formats.record_batch import Records, build
from tidemark.nodes.process.storage.directory_lock import DirectoryInUseError
from tidemark.nodes.process.storage.log_directory import LogDirectory

T = "t-0"


def records(*values):
    return Records(build(values))


def restart(disk):
    disk.crash()
    return disk.start()


def test_a_new_disk_is_empty(disk):
    image = disk.directory.load()

    assert (image.partitions, image.high_watermarks, image.clean_broker_epoch) == ({}, {}, None)


def test_what_the_core_asks_for_is_there_after_a_crash(disk, values_in):
    for action in (
        Append(T, Batch(0, 0, records(1, 2))),
        Append(T, Batch(2, 1, records(3))),
        Append(T, Batch(3, 1, records(4))),
        Append("my-topic-3", Batch(0, 1, records(9))),
        Truncate(T, 3),
        WriteEpochs(T, ((0, 0), (1, 2))),
        WriteHighWatermarks({T: 2, "my-topic-3": 0}),
    ):
        disk.directory.carry_out(action)

    found = restart(disk)

    assert set(found.partitions) == {T, "my-topic-3"}
    assert values_in(found) == [(1, 2), (3,)]
    assert values_in(found, "my-topic-3") == [(9,)]
    assert found.partitions[T].epochs == ((0, 0), (1, 2))
    assert found.partitions[T].hw == 2
    assert found.clean_broker_epoch == -1


def test_an_append_gives_the_bytes_for_the_trace(disk):
    assert disk.directory.append(T, Batch(0, 4, records(1))) == build([1], 0, 4)


def test_a_clean_shutdown_is_known_once(disk):
    for action in (Append(T, Batch(0, 0, records(1))), Sync(T), MarkCleanShutdown(12)):
        disk.directory.carry_out(action)

    assert restart(disk).clean_broker_epoch == 12
    assert restart(disk).clean_broker_epoch == -1


def test_the_mark_goes_before_anything_else_is_looked_at(disk):
    disk.directory.carry_out(MarkCleanShutdown(12))
    disk.crash()
    checkpoint = disk.data / "replication-offset-checkpoint"
    checkpoint.write_text("nonsense")
    with pytest.raises(CheckpointError):
        disk.start()
    disk.crash()
    checkpoint.unlink()

    assert disk.start().clean_broker_epoch == -1


def test_a_mark_that_cannot_be_read_is_no_mark(disk):
    (disk.data / ".kafka_cleanshutdown").write_text("")

    assert restart(disk).clean_broker_epoch == -1
    assert not (disk.data / ".kafka_cleanshutdown").exists()


def test_a_mark_beside_a_broken_log_is_not_believed(disk, values_in):
    disk.append(1)
    disk.append(2)
    disk.directory.carry_out(MarkCleanShutdown(12))
    disk.crash()
    with (disk.volatile / T / "00000000000000000000.log").open("r+b") as log:
        log.seek(-1, 2)
        log.write(b"\xff")

    found = disk.start()
    assert found.clean_broker_epoch == -1
    assert values_in(found) == [(1,)]


def test_a_lost_tmpfs_costs_what_was_not_synced(disk, values_in):
    disk.append(1)
    disk.directory.carry_out(Sync(T))
    disk.append(2)
    disk.crash()
    shutil.rmtree(disk.volatile)

    assert values_in(disk.start()) == [(1,)]


def test_a_lost_disk_leaves_an_empty_partition(disk, values_in):
    disk.append(1)
    disk.crash()
    shutil.rmtree(disk.volatile)
    shutil.rmtree(disk.data)
    (disk.data / T).mkdir(parents=True)

    assert values_in(disk.start()) == []
    disk.append(5)
    assert values_in(restart(disk)) == [(5,)]


def test_a_torn_batch_is_gone_after_one_recovery(disk, values_in):
    disk.append(1)
    disk.append(2)
    disk.crash()
    log = disk.volatile / T / "00000000000000000000.log"
    log.write_bytes(log.read_bytes()[:-3])

    assert values_in(disk.start()) == [(1,)]
    assert disk.written() == build([1], 0, 0)
    disk.append(3)
    assert values_in(restart(disk)) == [(1,), (3,)]


def test_a_torn_batch_in_the_durable_log_goes_from_there_too(disk, values_in):
    disk.append(1)
    disk.append(2)
    disk.directory.carry_out(Sync(T))
    disk.crash()
    shutil.rmtree(disk.volatile)
    log = disk.data / T / "00000000000000000000.log"
    log.write_bytes(log.read_bytes()[:-3])

    assert values_in(disk.start()) == [(1,)]
    assert disk.durable() == build([1], 0, 0)


def test_recovery_cuts_what_does_not_follow(disk, values_in):
    disk.append(1)
    disk.append(2, base=0)

    assert values_in(restart(disk)) == [(1,)]
    assert disk.written() == build([1], 0, 0)


def test_epochs_that_recovery_changed_are_written_back(disk):
    disk.append(1, epoch=0)
    disk.append(2, epoch=4)
    disk.directory.carry_out(WriteEpochs(T, ((0, 0),)))
    found = restart(disk)

    assert found.partitions[T].epochs == ((0, 0), (4, 1))
    assert (disk.data / T / "leader-epoch-checkpoint").read_text() == "0\n2\n0 0\n4 1\n"


def test_epochs_that_it_did_not_change_are_not_written(disk, monkeypatch):
    disk.append(1, epoch=0)
    disk.directory.carry_out(WriteEpochs(T, ((0, 0),)))
    file = disk.data / T / "leader-epoch-checkpoint"
    before = file.stat().st_ino

    restart(disk)
    assert file.stat().st_ino == before


def test_recovered_batches_lie_in_the_file(disk):
    disk.append(1)
    (batch,) = restart(disk).partitions[T].batches

    assert batch.values._raw is None
    assert batch.values.raw() == build([1], 0, 0)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "t", "t-", "-0", "t-x", "a/b-0", "../t-0", "t-0/", "t 0-1", "x" * 250 + "-0", "t-0\n"]
)
def test_a_name_that_is_no_partitions_is_rejected(disk, name):
    with pytest.raises(ValueError, match="is no partition"):
        disk.directory.file(name)

    assert list(disk.volatile.iterdir()) == []


@pytest.mark.parametrize("name", ["t-0", "my-topic-3", "a.b_c-12", "x" * 249 + "-0"])
def test_a_name_that_is_a_partitions_is_a_directory(disk, name):
    disk.directory.append(name, Batch(0, 0, records(1)))

    assert (disk.volatile / name).is_dir()
    assert set(restart(disk).partitions) == {name}


def test_other_directories_are_none_of_its_business(disk):
    (disk.data / "lost+found").mkdir()
    (disk.volatile / "t-0-delete").mkdir()
    (disk.data / "x-1").write_text("a file")

    assert restart(disk).partitions == {}


def test_only_one_process_at_a_time_has_the_directory(disk):
    with pytest.raises(DirectoryInUseError, match="stop that one first"):
        LogDirectory(disk.data, disk.volatile)
    disk.crash()
    disk.start()


def test_it_can_be_closed_twice(disk):
    disk.directory.close()
    disk.directory.close()


@pytest.mark.parametrize("action", [Halt("clean"), (0, 1, "lead", T)])
def test_what_is_nothing_for_a_disk_is_refused(disk, action):
    with pytest.raises(TypeError, match="a disk cannot"):
        disk.directory.carry_out(action)


def test_a_core_starts_from_it(disk):
    """The image is what the core's recovery takes."""
    disk.append(1, 2, epoch=3)
    disk.crash()
    disk.directory = LogDirectory(disk.data, disk.volatile)
    found = recover(disk.directory.load()).partitions[T]

    assert [(b.base, b.epoch, b.end) for b in found.batches] == [(0, 3, 2)]
    assert found.epochs == ((3, 0),)


# Deleted


def directories(disk):
    return sorted(
        path.name
        for place in (disk.directory.data, disk.directory.volatile)
        for path in place.iterdir()
        if path.is_dir()
    )


def test_a_deleted_partition_is_gone_from_both_places(disk, values_in):
    for action in (
        Append(T, Batch(0, 0, records(1, 2))),
        Append("t-1", Batch(0, 0, records(3))),
        WriteEpochs(T, ((0, 0),)),
        Sync(T),
        Delete(T),
        WriteHighWatermarks({"t-1": 1}),
    ):
        disk.directory.carry_out(action)
    assert directories(disk) == ["t-1", "t-1"]

    found = restart(disk)
    assert set(found.partitions) == {"t-1"}
    assert values_in(found, "t-1") == [(3,)]


def test_one_that_is_there_again_is_empty(disk, values_in):
    for action in (
        Append(T, Batch(0, 0, records(1, 2))),
        WriteEpochs(T, ((0, 0),)),
        Delete(T),
        Append(T, Batch(0, 3, records(7))),
    ):
        disk.directory.carry_out(action)

    found = restart(disk)
    assert values_in(found) == [(7,)]
    assert found.partitions[T].epochs == ((3, 0),)


def test_one_that_was_never_there_can_be_deleted(disk):
    disk.directory.carry_out(Delete(T))

    assert directories(disk) == []


def test_a_process_that_died_while_it_deleted_left_no_half_of_a_log(disk):
    disk.directory.carry_out(Append(T, Batch(0, 0, records(1))))
    disk.crash()
    for place in (disk.data, disk.volatile):
        (place / T).rename(place / f"{T}-delete")

    found = disk.start()
    assert found.partitions == {}
    assert directories(disk) == []


def test_a_vote_is_there_after_a_power_loss(disk):
    disk.directory.carry_out(WriteVote(T, 4, 2))
    volatile = disk.directory.volatile
    disk.crash()
    shutil.rmtree(volatile)

    assert disk.start().votes == {T: (4, 2)}
