"""A partition's two log files: what is written, cut, synced, and found again."""

import errno
import os
import resource
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidemark.nodes.core.log import Batch, Log
from tidemark.nodes.formats.record_batch import Records, build
from tidemark.nodes.formats.segment import SEGMENT
from tidemark.nodes.process.storage.log_file import LogFile

OPEN = Path("/proc/self/fd")


@pytest.fixture
def open_log(tmp_path):
    """Open the log in ``tmp_path``, as often as a test likes."""
    opened = []

    def start():
        log = LogFile(tmp_path / "volatile", tmp_path / "durable")
        opened.append(log)
        return log

    yield start
    for log in opened:
        log.close()


@pytest.fixture
def log(open_log):
    log = open_log()
    assert log.load() == []
    return log


def batch(base, *values, epoch=0):
    return Batch(base, epoch, Records(build(values)))


def written(tmp_path):
    return (tmp_path / "volatile" / SEGMENT).read_bytes()


def durable(tmp_path):
    return (tmp_path / "durable" / SEGMENT).read_bytes()


def test_the_file_holds_the_batches_and_nothing_else(log, tmp_path):
    log.append(batch(0, 1, 2, epoch=3))
    log.append(batch(2, 3, epoch=4))

    assert written(tmp_path) == build([1, 2], 0, 3) + build([3], 2, 4)
    assert durable(tmp_path) == b""


def test_an_append_returns_what_it_wrote(log):
    assert log.append(batch(7, 1, epoch=3)) == build([1], 7, 3)


def test_values_are_read_from_the_file_afterwards(log):
    batches = [batch(0, 1, 2), batch(2, 3), batch(3, 4, 5, 6)]
    for appended in batches:
        log.append(appended)

    assert [tuple(b.values) for b in batches] == [(1, 2), (3,), (4, 5, 6)]
    assert all(b.values._raw is None for b in batches)
    assert batches[1].values.header().base_offset == 2


def test_plain_integers_are_no_batch(log, tmp_path):
    with pytest.raises(TypeError, match="Records"):
        log.append(Batch(0, 0, (1, 2)))

    assert written(tmp_path) == b""


def test_what_was_written_is_found_by_the_next_process(log, open_log):
    log.append(batch(0, 1, 2, epoch=3))
    log.append(batch(2, 3, epoch=4))
    log.close()

    found = open_log().load()

    assert [(s.batch.base, s.batch.epoch, tuple(s.batch.values), s.sound) for s in found] == [
        (0, 3, (1, 2), True),
        (2, 4, (3,), True),
    ]


def test_a_log_can_be_closed_twice_and_read_no_more(log):
    appended = batch(0, 1)
    log.append(appended)
    log.close()
    log.close()

    with pytest.raises(OSError, match="log ends"):
        appended.values.raw()


@given(sizes=st.lists(st.integers(1, 4), max_size=8), cut=st.integers(0, 35))
@settings(deadline=None)
def test_it_is_cut_where_the_core_cuts_its_log(new_disk, sizes, cut):
    core = Log()
    with new_disk() as disk:
        for size in sizes:
            appended = batch(core.leo, *range(core.leo, core.leo + size))
            core.append(appended)
            disk.log.append(appended)
        core.truncate(cut)
        disk.log.truncate(cut)
        core.append(batch(core.leo, 99))
        disk.log.append(core.batches[-1])

        assert disk.written() == b"".join(build(tuple(b.values), b.base, b.epoch) for b in core.batches)


def test_what_was_cut_cannot_be_read(log):
    appended = batch(0, 1)
    log.append(appended)
    log.truncate(0)

    with pytest.raises(OSError, match="log ends"):
        appended.values.raw()


def test_a_sync_makes_what_was_written_durable(log, tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(OPEN.joinpath(str(fd)).readlink()))
    log.append(batch(0, 1))
    log.sync()
    log.append(batch(1, 2))

    assert synced == [tmp_path / "durable" / SEGMENT]
    assert durable(tmp_path) == build([1], 0, 0)

    log.sync()
    assert durable(tmp_path) == written(tmp_path)


def test_a_sync_copies_big_logs_whole(log, tmp_path, monkeypatch):
    monkeypatch.setattr("tidemark.nodes.process.storage.log_file._CHUNK", 100)
    for number in range(20):
        log.append(batch(number, number))
    log.sync()

    assert durable(tmp_path) == written(tmp_path)


@pytest.mark.parametrize("step", ["pwrite", "fsync"])
def test_a_sync_that_fails_leaves_what_was_synced_before(log, tmp_path, monkeypatch, step):
    log.append(batch(0, 1))
    log.sync()
    log.append(batch(1, 2))

    def fail(fd, *rest):
        raise OSError(errno.EIO, "the disk is gone")

    with monkeypatch.context() as broken:
        broken.setattr(os, step, fail)
        with pytest.raises(OSError, match="disk is gone"):
            log.sync()

    assert durable(tmp_path) == build([1], 0, 0)
    log.sync()
    assert durable(tmp_path) == written(tmp_path)


def test_a_cut_cuts_both_files(log, tmp_path):
    for number in range(3):
        log.append(batch(number, number))
    log.sync()
    log.append(batch(3, 3))
    log.truncate(2)

    assert written(tmp_path) == durable(tmp_path) == build([0], 0, 0) + build([1], 1, 0)
    assert log.synced == log.size

    log.append(batch(2, 7))
    assert durable(tmp_path) == build([0], 0, 0) + build([1], 1, 0)
    log.sync()
    assert durable(tmp_path) == written(tmp_path)


def test_a_cut_above_what_was_synced_leaves_the_durable_file(log, tmp_path):
    log.append(batch(0, 0))
    log.sync()
    log.append(batch(1, 1))
    log.append(batch(2, 2))
    log.truncate(2)

    assert durable(tmp_path) == build([0], 0, 0)
    assert len(written(tmp_path)) == 2 * len(durable(tmp_path))


def test_short_writes_are_carried_on(log, tmp_path, monkeypatch):
    whole = os.pwrite
    with monkeypatch.context() as slow:
        slow.setattr(os, "pwrite", lambda fd, data, at: whole(fd, data[: max(16, len(data) // 2)], at))
        log.append(batch(0, 1, 2, 3))
        log.append(batch(3, 4))
        log.sync()

    assert written(tmp_path) == durable(tmp_path) == build([1, 2, 3], 0, 0) + build([4], 3, 0)


def test_a_batch_that_does_not_fit_leaves_nothing_behind(log, tmp_path):
    log.append(batch(0, 1))
    too_big = batch(1, *range(50))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(build([1])) + 100, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            log.append(too_big)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    assert written(tmp_path) == build([1], 0, 0)
    assert tuple(too_big.values) == tuple(range(50))

    log.append(batch(1, 2))
    assert written(tmp_path) == build([1], 0, 0) + build([2], 1, 0)


def test_so_does_one_whose_time_of_writing_does_not_fit(log, tmp_path, monkeypatch):
    log.append(batch(0, 1))
    whole = os.pwrite
    with monkeypatch.context() as full:
        full.setattr(os, "pwrite", lambda fd, data, at: whole(fd, data, at) if len(data) > 16 else 0)
        with pytest.raises(OSError, match="No space"):
            log.append(batch(1, 2))

    assert written(tmp_path) == build([1], 0, 0)
    log.append(batch(1, 3))
    assert written(tmp_path) == build([1], 0, 0) + build([3], 1, 0)


@given(st.data())
@settings(deadline=None)
def test_of_a_log_cut_anywhere_the_whole_batches_are_found(new_disk, data):
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=5))
    with new_disk() as disk:
        ends = []
        for size in sizes:
            disk.append(*range(size))
            ends.append(disk.log.size)
        at = data.draw(st.integers(0, ends[-1]))
        disk.crash()
        os.truncate(disk.volatile / "t-0" / SEGMENT, at)
        log = LogFile(disk.volatile / "t-0", disk.data / "t-0")
        try:
            found = log.load()
            whole = sum(end <= at for end in ends)
            assert [len(s.batch.values) for s in found if s.sound] == sizes[:whole]
            assert [s.sound for s in found] == [True] * whole + [False] * (at not in (0, *ends))

            log.keep_first(whole)
            assert log.size == len(disk.written()) == ([0, *ends][whole])
        finally:
            log.close()


@given(st.data())
@settings(deadline=None)
def test_a_log_is_found_up_to_a_damaged_batch(new_disk, data):
    with new_disk() as disk:
        for number in range(4):
            disk.append(number)
        size = disk.log.size // 4
        at = data.draw(st.integers(0, 4 * size - 1).filter(lambda n: 8 <= n % size < 12 or n % size >= 16))
        content = bytearray(disk.written())
        content[at] ^= 1 << data.draw(st.integers(0, 7))
        disk.crash()
        (disk.volatile / "t-0" / SEGMENT).write_bytes(content)
        log = LogFile(disk.volatile / "t-0", disk.data / "t-0")
        try:
            found = log.load()
        finally:
            log.close()

    assert [s.sound for s in found] == [True] * (at // size) + [False]
    assert found[-1].batch.values == ()


def test_a_missing_volatile_log_is_a_copy_of_the_durable_one(log, open_log, tmp_path):
    log.append(batch(0, 1))
    log.sync()
    log.append(batch(1, 2))
    log.close()
    for file in (tmp_path / "volatile").iterdir():
        file.unlink()

    again = open_log()
    assert [tuple(s.batch.values) for s in again.load()] == [(1,)]
    assert again.synced == again.size
    again.append(batch(1, 3))
    assert written(tmp_path) == build([1], 0, 0) + build([3], 1, 0)


def test_a_copy_that_was_not_finished_is_not_taken_for_the_log(log, open_log, tmp_path):
    log.append(batch(0, 1))
    log.sync()
    log.close()
    volatile = tmp_path / "volatile" / SEGMENT
    volatile.unlink()
    volatile.with_name(SEGMENT + ".copy").write_bytes(b"half")

    assert [tuple(s.batch.values) for s in open_log().load()] == [(1,)]


def test_a_process_that_ended_between_the_cuts_left_the_longer_volatile_file(log, open_log, tmp_path, monkeypatch):
    for number in range(3):
        log.append(batch(number, number))
    log.sync()
    order = []
    cut = os.ftruncate
    with monkeypatch.context() as watched:
        watched.setattr(os, "ftruncate", lambda fd, size: order.append(fd) or cut(fd, size))
        log.truncate(1)

    assert order == [log._durable_fd, log._fd]


def test_what_a_failed_open_opened_is_closed(tmp_path):
    (tmp_path / "volatile").mkdir()
    (tmp_path / "volatile" / "written-at").mkdir()
    (tmp_path / "volatile" / SEGMENT).touch()
    before = len(list(OPEN.iterdir()))

    with pytest.raises(IsADirectoryError):
        LogFile(tmp_path / "volatile", tmp_path / "durable")

    assert len(list(OPEN.iterdir())) == before
