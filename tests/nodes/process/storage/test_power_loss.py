"""What a power loss leaves: never less than was synced, never more than was written, always a prefix."""

import json
import signal
import subprocess
import sys
from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidemark.nodes.core.actions import Sync, Truncate
from tidemark.nodes.process.storage import power_loss, written_at
from tidemark.nodes.process.storage.log_directory import LogDirectory
from tidemark.nodes.process.storage.power_loss import lose_power, main

T = "t-0"
NOW = 1_000_000


class Clock:
    """Milliseconds that a test sets; the power goes at NOW unless a test says otherwise."""

    now = NOW


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    monkeypatch.setattr(Clock, "now", NOW)
    monkeypatch.setattr(written_at, "now_ms", lambda: Clock.now)
    monkeypatch.setattr(power_loss, "now_ms", lambda: NOW)
    return Clock


def strike(disk, *, seed=1, keep=None):
    disk.crash()
    return lose_power(disk.data, disk.volatile, keep=keep, noise=Random(seed), killed_ms=NOW)


def kept(disk, **how):
    """The values that recovery finds after a power loss."""
    strike(disk, **how)
    return [tuple(b.values) for b in disk.start().partitions[T].batches]


def outcomes(new_disk, prepare, seeds):
    """How often which numbers of batches stayed."""
    ends = Counter()
    for seed in range(seeds):
        with new_disk() as disk:
            prepare(disk)
            ends[len(kept(disk, seed=seed))] += 1
    return ends


def fill(disk, *, synced, unsynced):
    for number in range(synced + unsynced):
        disk.append(number)
        if number == synced - 1:
            disk.directory.carry_out(Sync(T))


@given(
    sizes=st.lists(st.integers(1, 4), max_size=6),
    steps=st.lists(st.sampled_from(["sync", "cut", "wait", 1, 3]), max_size=8),
    seed=st.integers(0, 10**6),
)
@settings(deadline=None, max_examples=60)
def test_what_stays_is_a_prefix_with_all_that_was_synced_or_old(new_disk, sizes, steps, seed):
    Clock.now = NOW
    log, synced = [], 0
    with new_disk() as disk:
        disk.append(0)
        disk.directory.carry_out(Truncate(T, 0))
        for step in [*sizes, *steps]:
            if step == "sync":
                disk.directory.carry_out(Sync(T))
                synced = len(log)
            elif step == "cut":
                disk.directory.carry_out(Truncate(T, max(disk.next_base() - 1, 0)))
                del log[-1:]
                synced = min(synced, len(log))
            elif step == "wait":
                Clock.now += 3_000
            else:
                values = tuple(range(100 * len(log), 100 * len(log) + step))
                disk.append(*values)
                log.append((values, Clock.now))
        disk.crash()
        killed = Clock.now + 1
        said = lose_power(disk.data, disk.volatile, keep=None, noise=Random(seed), killed_ms=killed)[T]
        found = [tuple(b.values) for b in disk.start().partitions[T].batches]

    written = [values for values, _ in log]
    old = sum(killed - at >= 3_000 for _, at in log)
    assert found == written[: len(found)]
    assert len(found) >= max(synced, old)
    assert said["batches"] == {"kept": len(found), "lost": len(log) - len(found)}
    assert said["records"]["kept"] == sum(map(len, found))
    assert said["records"]["lost"] == sum(map(len, written[len(found) :]))


def test_what_was_synced_survives(new_disk):
    assert set(outcomes(new_disk, lambda disk: fill(disk, synced=3, unsynced=0), 20)) == {3}


def test_of_the_rest_any_prefix_does(new_disk):
    ends = outcomes(new_disk, lambda disk: fill(disk, synced=2, unsynced=2), 120)

    assert set(ends) == {2, 3, 4}
    assert min(ends.values()) > 20


def test_what_is_old_enough_was_written_back_by_the_kernel(new_disk, clock):
    def prepare(disk):
        clock.now = NOW - 3_000
        fill(disk, synced=0, unsynced=2)
        clock.now = NOW - 3_000 + 1
        disk.append(7)

    assert set(outcomes(new_disk, prepare, 40)) == {2, 3}


def test_what_was_cut_and_written_again_is_as_old_as_it_is(new_disk, clock):
    def prepare(disk):
        clock.now = NOW - 3_000
        fill(disk, synced=0, unsynced=3)
        disk.directory.carry_out(Truncate(T, 1))
        clock.now = NOW
        disk.append(7, 8, 9)
        disk.append(8)

    assert set(outcomes(new_disk, prepare, 40)) == {1, 2, 3}


def test_a_part_of_the_first_lost_batch_may_stay_and_recovery_drops_it(new_disk):
    torn = 0
    for seed in range(120):
        with new_disk() as disk:
            fill(disk, synced=0, unsynced=3)
            whole = disk.written()
            said = strike(disk, seed=seed)[T]
            size = len(whole) // 3
            end = said["batches"]["kept"] * size + said["torn_bytes"]
            torn += said["torn_bytes"] > 0

            assert disk.durable() == whole[:end]
            assert 0 <= said["torn_bytes"] < size
            assert len(disk.start().partitions[T].batches) == said["batches"]["kept"]

    assert 10 < torn < 45


def test_one_seed_is_one_fate(new_disk):
    def fate(seed):
        with new_disk() as disk:
            fill(disk, synced=1, unsynced=9)
            disk.append(5, partition="u-1")
            return json.dumps(strike(disk, seed=seed))

    assert fate(5) == fate(5)
    assert len({fate(seed) for seed in range(8)}) > 4


@pytest.mark.parametrize("keep", [2, 3, 4])
def test_so_many_batches_stay_as_are_asked_for(disk, keep):
    fill(disk, synced=2, unsynced=2)

    assert kept(disk, keep=keep) == [(number,) for number in range(keep)]


def test_a_second_power_loss_takes_no_more(disk):
    fill(disk, synced=0, unsynced=4)
    strike(disk, keep=3)

    assert strike(disk, keep=3)[T]["batches"] == {"kept": 3, "lost": 0}
    assert len(kept(disk, seed=4)) == 3


def test_the_volatile_logs_are_gone_and_nothing_else(disk):
    fill(disk, synced=0, unsynced=1)
    (disk.volatile / "notes").mkdir()
    strike(disk)

    assert [entry.name for entry in disk.volatile.iterdir()] == ["notes"]


def test_a_sync_that_was_cut_short_synced_only_whole_batches(new_disk):
    for seed in range(30):
        with new_disk() as disk:
            fill(disk, synced=1, unsynced=2)
            whole = disk.written()
            disk.crash()
            (disk.data / T / "00000000000000000000.log").write_bytes(whole[:100])
            said = strike(disk, seed=seed)[T]

            assert said["batches"]["kept"] >= 1
            assert disk.durable() == whole[: said["batches"]["kept"] * len(whole) // 3 + said["torn_bytes"]]
            assert len(disk.start().partitions[T].batches) == said["batches"]["kept"]


@pytest.mark.parametrize(("share", "torn"), [(0.0, 1), (0.999999, 68)])
def test_a_torn_batch_is_neither_empty_nor_whole(disk, share, torn):
    class Noise:
        def __init__(self):
            self.draws = iter([0.0, 0.0, share])

        def random(self):
            return next(self.draws)

    fill(disk, synced=0, unsynced=1)
    disk.crash()
    log = power_loss.log_before(T, disk.data, disk.volatile, NOW)

    assert log.draw(Noise()) == (0, torn)
    assert log.ends == [69]


def test_a_batch_half_written_when_the_process_was_killed_is_lost(disk):
    fill(disk, synced=0, unsynced=2)
    disk.crash()
    log = disk.volatile / T / "00000000000000000000.log"
    log.write_bytes(log.read_bytes()[:-5])

    assert kept(disk, keep=1) == [(0,)]


def test_a_log_that_is_damaged_where_it_was_synced_stays_as_it_is(disk):
    fill(disk, synced=3, unsynced=1)
    disk.crash()
    log = disk.volatile / T / "00000000000000000000.log"
    content = bytearray(log.read_bytes())
    content[100] ^= 1
    log.write_bytes(content)
    durable = disk.durable()
    said = strike(disk)[T]

    assert disk.durable() == durable
    assert said["batches"] == {"kept": 1, "lost": 0}
    assert said["torn_bytes"] == len(durable) - 69


def run(disk, *arguments):
    return main(["--data", str(disk.data), "--volatile", str(disk.volatile), *arguments])


def test_the_command_says_what_was_lost(disk, capsys):
    disk.append(1, 2)
    disk.append(3, 4, 5)
    disk.append(6, partition="my-topic-3")
    disk.crash()

    assert run(disk, "--keep", "1") == 0
    assert json.loads(capsys.readouterr().out) == {
        "my-topic-3": {"batches": {"kept": 1, "lost": 0}, "records": {"kept": 1, "lost": 0}, "torn_bytes": 0},
        T: {"batches": {"kept": 1, "lost": 1}, "records": {"kept": 2, "lost": 3}, "torn_bytes": 0},
    }


@pytest.mark.parametrize("keep", [-1, 1, 4])
def test_it_keeps_no_less_than_was_synced_and_no_more_than_there_is(disk, capsys, keep):
    fill(disk, synced=2, unsynced=1)
    disk.append(6, partition="a-0")
    before = disk.written(), disk.durable()
    disk.crash()

    assert run(disk, "--keep", str(keep)) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert f"cannot keep {keep}: keep" in said.err
    assert said.err.count("\n") == 1
    assert (disk.written(), disk.durable()) == before


def test_it_refuses_while_the_process_runs(disk, capsys):
    disk.append(1)

    assert run(disk, "--seed", "1") == 2
    assert "stop that one first" in capsys.readouterr().err
    assert disk.written()


def test_it_refuses_a_directory_that_is_not_there(tmp_path, capsys):
    assert main(["--data", str(tmp_path / "x"), "--volatile", str(tmp_path), "--seed", "1"]) == 2
    assert "There is no directory" in capsys.readouterr().err


@pytest.mark.parametrize("fate", [[], ["--keep", "1", "--seed", "1"], ["--keep", "x"]])
def test_it_wants_one_fate(disk, capsys, fate):
    with pytest.raises(SystemExit) as ended:
        run(disk, *fate)

    assert ended.value.code == 2


def test_a_broker_that_never_wrote_loses_nothing(disk, capsys):
    disk.crash()

    assert run(disk, "--seed", "1") == 0
    assert json.loads(capsys.readouterr().out) == {}


def test_its_moment_can_be_given(disk, capsys, clock):
    clock.now = NOW - 2_000
    fill(disk, synced=0, unsynced=5)
    disk.crash()

    assert run(disk, "--seed", "3", "--killed-at", str(NOW + 1_000)) == 0
    assert json.loads(capsys.readouterr().out)[T]["batches"] == {"kept": 5, "lost": 0}


WRITER = """
import sys
from pathlib import Path
from tidemark.nodes.core.log import Batch
from tidemark.nodes.process.storage.log_directory import LogDirectory
from tidemark.nodes.formats.record_batch import Records, build
from tidemark.nodes.core.actions import Sync
directory = LogDirectory(Path(sys.argv[1]), Path(sys.argv[2]))
directory.load()
for number in range(5):
    directory.append("t-0", Batch(number, 0, Records(build([number]))))
    if number == 1:
        directory.carry_out(Sync("t-0"))
print("written", flush=True)
sys.stdin.read()
"""


def test_a_real_process_is_killed_and_its_disk_struck(tmp_path):
    data, volatile = tmp_path / "data", tmp_path / "volatile"
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, data, volatile], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout.readline() == "written\n"
        command = [
            sys.executable,
            "-m",
            "tidemark.nodes.process.storage.power_loss",
            "--data",
            data,
            "--volatile",
            volatile,
        ]
        refused = subprocess.run([*command, "--keep", "3"], capture_output=True, text=True, check=False)
        assert (refused.returncode, refused.stdout) == (2, "")
        writer.send_signal(signal.SIGKILL)
    struck = subprocess.run([*command, "--keep", "3"], capture_output=True, text=True, check=True)

    assert json.loads(struck.stdout)[T]["batches"] == {"kept": 3, "lost": 2}
    directory = LogDirectory(data, volatile)
    try:
        assert [tuple(s.batch.values) for s in directory.load().partitions[T].batches] == [(0,), (1,), (2,)]
    finally:
        directory.close()
