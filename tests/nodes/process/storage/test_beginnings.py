"""Logs that do not begin at 0: batches dropped from the beginning, a new beginning, and whatever interrupts either."""

import itertools
from pathlib import Path

import pytest

from tidemark.nodes.core.actions import Append, BeginAt, DropBefore, Sync, Truncate, WriteLogStarts
from tidemark.nodes.core.log import Batch
from tidemark.nodes.core.recovery import RecoveryRules, recover
from tidemark.nodes.formats.record_batch import Records, build
from tidemark.nodes.process.storage import power_loss, written_at
from tidemark.nodes.process.storage.log_directory import LogDirectory
from tidemark.nodes.process.storage.log_file import LogFile
from tidemark.nodes.process.storage.written_at import WRITTEN_AT, old_until

T = "t-0"


class KilledError(Exception):
    """The process ends here."""


@pytest.fixture
def open_log(tmp_path):
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
    """Batches 0–1, 2, 3–5; the first two are synced."""
    log = open_log()
    for batch in (records(0, 10, 11), records(2, 12)):
        log.append(batch)
    log.sync()
    log.append(records(3, 13, 14, 15, epoch=4))
    return log


def records(base, *values, epoch=0):
    return Batch(base, epoch, Records(build(values)))


def content(directory):
    """Name → values of each file of batches."""
    return {
        path.name: [value for stored in _stored(path) for value in stored.batch.values]
        for path in sorted(directory.glob("*.log"))
    }


def _stored(path):
    twin = path.parent.parent / (path.parent.name + "-read")
    for directory in (twin, twin.with_suffix(".durable")):
        directory.mkdir(exist_ok=True)
        for old in directory.iterdir():
            old.unlink()
    (twin / path.name).write_bytes(path.read_bytes())
    (twin.with_suffix(".durable") / path.name).write_bytes(path.read_bytes())
    log = LogFile(twin, twin.with_suffix(".durable"))
    try:
        yield from log.load()
    finally:
        log.close()


def name(offset):
    return f"{offset:020}.log"


def found(open_log):
    """What the next process finds: where the log begins, and what it holds."""
    log = open_log()
    return log.base, [(s.batch.base, s.batch.epoch, tuple(s.batch.values)) for s in log.load()]


def test_dropped_batches_are_in_neither_file(log, tmp_path):
    log.drop_before(2)

    assert content(tmp_path / "volatile") == {name(2): [12, 13, 14, 15]}
    assert content(tmp_path / "durable") == {name(2): [12]}


def test_the_rest_can_be_read_appended_to_synced_and_cut_as_before(open_log, tmp_path):
    log = open_log()
    batches = [records(0, 10, 11), records(2, 12), records(3, 13, 14)]
    for batch in batches:
        log.append(batch)
    log.drop_before(3)
    more = records(5, 15)
    log.append(more)

    assert tuple(batches[2].values) == (13, 14)
    assert tuple(more.values) == (15,)
    with pytest.raises(OSError, match="begins after 0"):
        tuple(batches[0].values)
    log.sync()
    assert content(tmp_path / "durable") == {name(3): [13, 14, 15]}
    log.truncate(5)
    assert content(tmp_path / "volatile") == content(tmp_path / "durable") == {name(3): [13, 14]}


def test_the_next_process_finds_the_beginning(log, open_log):
    log.drop_before(2)
    log.close()

    assert found(open_log) == (2, [(2, 0, (12,)), (3, 4, (13, 14, 15))])


def test_an_offset_within_a_batch_keeps_the_batch(log, open_log):
    log.drop_before(1)
    log.close()

    base, batches = found(open_log)
    assert (base, batches[0]) == (1, (0, 0, (10, 11)))


def test_everything_can_be_dropped_and_the_log_goes_on(log, open_log):
    log.drop_before(6)
    log.append(records(6, 16))
    log.close()

    assert found(open_log) == (6, [(6, 0, (16,))])


@pytest.mark.parametrize("offset", [2, 9])
def test_a_new_beginning_leaves_nothing(log, open_log, tmp_path, offset):
    log.begin_at(offset)
    assert content(tmp_path / "volatile") == content(tmp_path / "durable") == {name(offset): []}
    after = records(offset, 99)
    log.append(after)
    assert tuple(after.values) == (99,)
    log.close()

    assert found(open_log) == (offset, [(offset, 0, (99,))])


def test_what_is_read_of_a_log_that_began_anew_is_not_what_was_there(open_log):
    log = open_log()
    old = records(0, 16)
    log.append(old)
    log.begin_at(6)
    log.append(records(6, 99))

    with pytest.raises(OSError, match="begins after"):
        tuple(old.values)


def test_dropped_batches_are_no_older_than_they_were(log, open_log, tmp_path, monkeypatch):
    monkeypatch.setattr(written_at, "now_ms", lambda: 1 << 60)
    log.append(records(6, 16))
    size = log.size
    log.drop_before(2)

    assert old_until(tmp_path / "volatile" / WRITTEN_AT, (1 << 60) - 1) < log.size < size


def test_a_cut_below_the_beginning_moves_it(log, open_log):
    log.drop_before(3)
    log.truncate(2)
    log.append(records(2, 7))
    log.close()

    assert found(open_log) == (2, [(2, 0, (7,))])


def test_a_cut_above_the_beginning_does_not(log, open_log):
    log.drop_before(2)
    log.truncate(2)
    log.close()

    assert found(open_log) == (2, [])


def _interrupted(monkeypatch, at, change):
    """Do something, but end at the ``at``-th change of a directory; says whether it came so far."""
    steps = itertools.count()

    def counted(original):
        def stepping(*args, **kwargs):
            if next(steps) == at:
                raise KilledError
            return original(*args, **kwargs)

        return stepping

    with monkeypatch.context() as m:
        for what in ("rename", "replace", "unlink"):
            m.setattr(Path, what, counted(getattr(Path, what)))
        for what in ("ftruncate", "fsync"):
            m.setattr(f"os.{what}", counted(getattr(__import__("os"), what)))
        try:
            change()
        except KilledError:
            return True
    return False


BEFORE = (0, [(0, 0, (10, 11)), (2, 0, (12,)), (3, 4, (13, 14, 15))])


@pytest.mark.parametrize("at", range(12))
def test_a_process_killed_while_it_drops_has_dropped_or_has_not(log, open_log, tmp_path, monkeypatch, at):
    cut_short = _interrupted(monkeypatch, at, lambda: log.drop_before(2))
    log.close()
    after = (2, BEFORE[1][1:])

    assert found(open_log) == after if not cut_short else found(open_log) in (BEFORE, after)
    volatile, durable = content(tmp_path / "volatile"), content(tmp_path / "durable")
    assert len(volatile) == len(durable) == 1
    assert volatile.keys() == durable.keys()
    assert next(iter(durable.values()))[-1:] == [12]


@pytest.mark.parametrize("at", range(12))
def test_a_process_killed_while_it_begins_anew_has_the_log_or_none(log, open_log, tmp_path, monkeypatch, at):
    cut_short = _interrupted(monkeypatch, at, lambda: log.begin_at(9))
    log.close()

    everything, nothing, anew = BEFORE, (0, []), (9, [])
    assert found(open_log) == anew if not cut_short else found(open_log) in (everything, nothing, anew)
    assert content(tmp_path / "durable").keys() == content(tmp_path / "volatile").keys()


def test_some_of_these_interruptions_came(log, monkeypatch):
    assert _interrupted(monkeypatch, 3, lambda: log.drop_before(2))


@pytest.mark.parametrize("at", range(12))
def test_the_power_may_go_after_it_was_killed(log, tmp_path, monkeypatch, at):
    _interrupted(monkeypatch, at, lambda: log.drop_before(2))
    log.close()
    (tmp_path / "data").mkdir()
    (tmp_path / "tmpfs").mkdir()
    (tmp_path / "durable").rename(tmp_path / "data" / T)
    (tmp_path / "volatile").rename(tmp_path / "tmpfs" / T)
    assert power_loss.main([*_places(tmp_path), "--keep", "2"]) in (0, 2)
    assert power_loss.main([*_places(tmp_path), "--keep", "1"]) in (0, 2)
    directory = LogDirectory(tmp_path / "data", tmp_path / "tmpfs")
    try:
        image = directory.load().partitions[T]
        assert (image.base, [tuple(s.batch.values) for s in image.batches]) in [
            (0, [(10, 11), (12,)]),
            (2, [(12,), (13, 14, 15)]),
            (2, [(12,)]),
        ]
    finally:
        directory.close()


def _places(root):
    return ["--data", str(root / "data"), "--volatile", str(root / "tmpfs")]


def append(disk, base, *values):
    disk.directory.carry_out(Append(T, records(base, *values)))


def test_a_power_loss_keeps_the_beginning(disk):
    for base in range(4):
        append(disk, base, base)
    disk.directory.carry_out(Sync(T))
    append(disk, 4, 4)
    disk.directory.carry_out(DropBefore(T, 3))
    append(disk, 5, 5)
    disk.crash()
    assert power_loss.main(["--data", str(disk.data), "--volatile", str(disk.volatile), "--keep", "2"]) == 0
    kept = disk.start().partitions[T]

    assert [tuple(batch.values) for batch in kept.batches] == [(3,), (4,)]
    assert (kept.start, kept.leo) == (3, 5)


def test_a_log_start_is_found_in_its_checkpoint_or_in_the_name_of_the_file(disk):
    for base in range(4):
        append(disk, base, base)
    for action in (DropBefore(T, 1), WriteLogStarts({T: 3})):
        disk.directory.carry_out(action)
    disk.crash()
    recovered = disk.start()
    assert (recovered.partitions[T].start, recovered.log_starts) == (3, {T: 3})
    disk.directory.carry_out(WriteLogStarts({}))
    disk.crash()

    assert disk.start().partitions[T].start == 1


def test_a_log_that_ends_below_its_start_begins_anew(disk, values_in):
    append(disk, 0, 1)
    disk.directory.carry_out(WriteLogStarts({T: 3}))
    disk.crash()
    recovered = disk.start()
    assert (recovered.partitions[T].leo, values_in(recovered)) == (3, [])
    append(disk, 3, 9)
    disk.crash()

    assert (disk.start().partitions[T].leo, values_in(disk.start_again())) == (4, [(9,)])


def test_under_kafka_8306_it_stays_as_it_is(disk):
    append(disk, 0, 1)
    disk.directory.carry_out(WriteLogStarts({T: 3}))
    disk.crash()
    directory = LogDirectory(disk.data, disk.volatile)
    try:
        recovered = recover(directory.load(), RecoveryRules(keep_short_logs=True))
        directory.after_recovery(recovered)
        assert (recovered.partitions[T].start, recovered.partitions[T].leo) == (3, 1)
        directory.carry_out(Truncate(T, 1))
        assert [tuple(s.batch.values) for s in directory.file(T).load()] == [(1,)]
    finally:
        directory.close()


def test_the_core_asks_for_a_new_beginning(disk):
    append(disk, 0, 1)
    disk.directory.carry_out(BeginAt(T, 7))
    disk.crash()
    found = disk.start().partitions[T]

    assert (found.batches, found.start, found.leo) == ([], 7, 7)
