"""What a power loss leaves of a broker's logs."""

import fcntl
import json
import os
import subprocess
import sys

import pytest

from tidemark.nodes.formats.message_set import read_partition
from tidemark.nodes.formats.record_batch import build
from tidemark.nodes.sidecar.power_loss import lose_power, main
from tidemark.nodes.sidecar.synced_segments import NOTE

FIRST = "00000000000000000000.log"
SECOND = "00000000000000000004.log"
HOLDER = """
import fcntl, sys, time
with open(sys.argv[1], "w") as lock:
    fcntl.lockf(lock, fcntl.LOCK_EX)
    print("held", flush=True)
    time.sleep(600)
"""
BATCHES = [build((2 * n, 2 * n + 1), 2 * n, 1) for n in range(5)]


def checkpoint(data, *entries, of="recovery-point"):
    (data / f"{of}-offset-checkpoint").write_text("".join(f"{line}\n" for line in ("0", len(entries), *entries)))


@pytest.fixture
def data(tmp_path):
    """Five batches of two records, nothing known to be flushed."""
    logs = tmp_path / "t-0"
    logs.mkdir()
    (logs / FIRST).write_bytes(b"".join(BATCHES))
    for name in ("00000000000000000000.index", "00000000000000000000.timeindex", "00000000000000000008.snapshot"):
        (logs / name).write_bytes(b"old")
    (logs / "leader-epoch-checkpoint").write_text("0\n1\n1 0\n")
    (tmp_path / "meta.properties").write_text("broker.id=1\n")
    checkpoint(tmp_path)
    return tmp_path


def bases(data, name="t-0"):
    return [base for base, _, _ in read_partition(data / name)]


def test_so_many_batches_are_kept_as_were_asked_for(data):
    said = lose_power(data, keep=3)

    assert bases(data) == [0, 2, 4]
    assert said["t-0"] == {
        "batches": {"kept": 3, "lost": 2},
        "records": {"kept": 6, "lost": 4},
        "torn_bytes": 0,
        "flushed": 0,
    }


def test_kafka_must_build_indexes_and_later_snapshots_again(data):
    lose_power(data, keep=3)

    assert sorted(path.name for path in (data / "t-0").iterdir()) == [FIRST, "leader-epoch-checkpoint"]


def test_snapshots_before_the_cut_stay(data):
    lose_power(data, keep=4)

    assert (data / "t-0" / "00000000000000000008.snapshot").exists()


def test_of_two_log_directories_each_loses_by_its_own_checkpoint(tmp_path):
    for name, partition, flushed in (("first", "t-0", 4), ("second", "t-1", 8)):
        directory = tmp_path / name
        (directory / partition).mkdir(parents=True)
        (directory / partition / FIRST).write_bytes(b"".join(BATCHES))
        checkpoint(directory, f"t 0 {flushed}", f"t 1 {flushed}")
    (tmp_path / "first" / "t-1.0123-future").mkdir()
    said = lose_power(tmp_path, keep=4)

    assert (bases(tmp_path / "first"), bases(tmp_path / "second", "t-1")) == ([0, 2, 4, 6], [0, 2, 4, 6])
    assert {name: one["flushed"] for name, one in said.items()} == {"t-0": 4, "t-1": 8}


def test_what_was_durable_stays(data):
    before = {name: (data / name).read_bytes() for name in ("meta.properties", "t-0/leader-epoch-checkpoint")}
    lose_power(data, seed=1)

    assert {name: (data / name).read_bytes() for name in before} == before


def test_cuts_are_drawn_anywhere_behind_what_is_flushed(data):
    text = (data / "t-0" / FIRST).read_bytes()
    checkpoint(data, "t 0 4")
    sizes = set()
    for seed in range(200):
        (data / "t-0" / FIRST).write_bytes(text)
        said = lose_power(data, seed=seed)["t-0"]
        left = (data / "t-0" / FIRST).read_bytes()
        assert text.startswith(left)
        assert bases(data)[:2] == [0, 2]
        assert said["flushed"] == 4
        assert said["batches"]["kept"] == len(bases(data))
        assert len(left) == sum(map(len, BATCHES[: len(bases(data))])) + said["torn_bytes"]
        sizes.add(len(left))
    assert min(sizes) < len(text) / 2 < max(sizes)
    assert len(sizes) > 50


def test_the_same_seed_draws_the_same_whatever_else_is_there(data):
    text = (data / "t-0" / FIRST).read_bytes()
    alone = lose_power(data, seed=7)["t-0"]
    (data / "t-0" / FIRST).write_bytes(text)
    (data / "a-0").mkdir()
    (data / "a-0" / FIRST).write_bytes(BATCHES[0])

    assert lose_power(data, seed=7)["t-0"] == alone


def test_a_rolled_segment_is_flushed(data):
    logs = data / "t-0"
    (logs / FIRST).write_bytes(b"".join(BATCHES[:2]))
    (logs / SECOND).write_bytes(b"".join(BATCHES[2:]))

    assert lose_power(data, keep=3)["t-0"]["batches"] == {"kept": 3, "lost": 2}
    assert bases(data) == [0, 2, 4]
    assert main(["--data", str(data), "--keep", "1"]) == 2
    assert lose_power(data, keep=2)["t-0"]["flushed"] == 4


def test_less_than_what_is_flushed_cannot_be_kept(data, capsys):
    checkpoint(data, "t 0 4")

    assert main(["--data", str(data), "--keep", "1"]) == 2
    assert "t-0 has 5 batches, 2 of them flushed, so it cannot keep 1: keep 2 to 5." in capsys.readouterr().err
    assert len(bases(data)) == 5


@pytest.mark.parametrize(("start", "flushed"), [(2, 4), (4, 0), (6, 0)])
def test_a_recovery_point_that_came_with_a_log_start_proves_nothing(data, start, flushed):
    """``Log.updateLogStartOffset``: the recovery point is never below the log start, and nothing is flushed for that."""
    checkpoint(data, "t 0 4")
    checkpoint(data, f"t 0 {start}", of="log-start")

    assert lose_power(data, keep=2)["t-0"]["flushed"] == flushed


def test_internal_topics_and_the_metadata_log_are_not_cut_to_a_number(data):
    for name in ("__consumer_offsets-3", "__cluster_metadata-0"):
        (data / name).mkdir()
        (data / name / FIRST).write_bytes(BATCHES[0])

    assert set(lose_power(data, keep=2)) == {"t-0"}
    assert set(lose_power(data, seed=2)) == {"t-0", "__consumer_offsets-3"}
    assert bases(data, "__cluster_metadata-0") == [0]


def test_after_a_clean_shutdown_nothing_is_lost(data):
    (data / ".kafka_cleanshutdown").touch()

    assert lose_power(data, seed=3)["t-0"]["batches"] == {"kept": 5, "lost": 0}
    assert (data / ".kafka_cleanshutdown").exists()


def test_a_running_broker_is_left_alone(data):
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(data / ".lock")], stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline() == b"held\n"
        assert main(["--data", str(data), "--seed", "1"]) == 2
        assert len(bases(data)) == 5
    finally:
        holder.kill()
        holder.communicate()


def test_the_lock_is_let_go(data):
    lose_power(data, keep=5)
    fd = os.open(data / ".lock", os.O_RDWR)
    fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(fd)


def test_the_command_prints_one_line_of_json(data, capsys):
    assert main(["--data", str(data), "--seed", "5"]) == 0
    assert set(json.loads(capsys.readouterr().out)["t-0"]) == {"batches", "records", "torn_bytes", "flushed"}


@pytest.mark.parametrize("text", ["1\n0\n", "0\n2\nt 0 1\n", "0\n1\nt zero 1\n"])
def test_a_checkpoint_that_cannot_be_read_is_refused(data, text):
    (data / "recovery-point-offset-checkpoint").write_text(text)

    assert main(["--data", str(data), "--seed", "5"]) == 2


# A broker that is set to flush


def note(data, *lines):
    (data / NOTE).write_text("".join(lines))


def test_what_a_broker_has_flushed_since_its_checkpoint_stays(data):
    whole = (data / "t-0" / FIRST).read_bytes()
    note(data, f"{len(BATCHES[0])} t-0/{FIRST}\n", f"{len(whole)} t-0/{FIRST}\n", "1 t-0/0000")
    for seed in range(20):
        lose_power(data, seed=seed)

        assert (data / "t-0" / FIRST).read_bytes() == whole
    assert main(["--data", str(data), "--keep", "4"]) == 2


def test_what_it_has_not_flushed_may_go(data):
    note(data, f"{len(b''.join(BATCHES[:3]))} t-0/{FIRST}\n")

    assert lose_power(data, keep=3)["t-0"]["flushed"] == 6
    assert main(["--data", str(data), "--keep", "2"]) == 2


def test_a_segment_that_was_cut_since_is_flushed_as_far_as_it_is_there(data):
    note(data, f"100000 t-0/{FIRST}\n")

    assert lose_power(data, seed=1)["t-0"]["batches"] == {"kept": 5, "lost": 0}
