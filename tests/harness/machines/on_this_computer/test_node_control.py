"""A real node process, controlled through a shell; the machine is this computer, the files are in a temporary folder."""

import json
import time
from pathlib import Path

import pytest

from tidemark.harness.machines.errors import NodeError


def eventually(question):
    until = time.monotonic() + 10
    while not (answer := question()):
        assert time.monotonic() < until
        time.sleep(0.01)
    return answer


def test_a_life_from_start_to_clean_end(control, config):
    assert control.state() == "gone"
    control.start(config)

    assert control.running()
    assert control.status()["node"] == 0
    assert control.last_trace()[2:] == ["start", "", 1]
    assert control.own_end() == ""

    control.terminate()
    eventually(lambda: control.state() == "gone")

    assert control.own_end() == "clean"
    assert "node 0 started" in control.log_tail()


def test_kill_says_whether_there_was_a_process(control, config):
    control.start(config)

    assert control.kill()
    assert control.state() == "gone"
    assert control.own_end() == ""
    assert not control.kill()


def test_a_second_process_does_not_take_its_predecessors_end_for_its_own(control, config):
    control.start(config)
    control.terminate()
    eventually(lambda: control.state() == "gone")
    control.start({**config, "incarnation": 2})
    control.kill()

    assert control.own_end() == ""


def test_a_paused_process_stands_still_until_it_is_resumed(control, config):
    control.start(config)

    assert control.pause()
    assert control.state() == "stopped"
    with pytest.raises(NodeError, match=r"did not answer 'status' within 0\.1 s"):
        control.status(timeout_s=0.1)

    control.resume()

    assert control.state() == "running"
    assert control.status()["ok"]


def test_signals_to_nobody_do_nothing(control):
    control.terminate()
    control.resume()

    assert not control.pause()


def test_a_process_that_ends_at_once_leaves_its_last_words(control, config):
    with pytest.raises(
        NodeError, match=r"(?s)^controller: the node process ended at once: .*unknown variant 'kafka-9'"
    ):
        control.start({**config, "variant": "kafka-9"})


def test_there_is_never_a_second_process(control, config):
    control.start(config)

    with pytest.raises(NodeError, match="cannot start the node process: a node process is running already"):
        control.start({**config, "incarnation": 2})


def test_another_process_with_a_recycled_number_is_let_be(control, config, tmp_path):
    control.start(config)
    pid, since = Path(control.places.pid).read_text().split()
    Path(control.places.pid).write_text(f"{pid} {int(since) - 1}\n")

    assert control.state() == "gone"
    assert not control.kill()

    Path(control.places.pid).write_text(f"{pid} {since}\n")

    assert control.state() == "running"


def test_clock_faults_need_libfaketime(control, config):
    with pytest.raises(NodeError, match="libfaketime is not installed, and this run wants clock faults"):
        control.start(config, clock_faults=True)


def test_a_lost_disk_leaves_an_empty_directory_for_each_partition(control):
    volatile, data = Path(control.places.volatile), Path(control.places.data)
    for directory in (volatile / "t-0", data / "t-0"):
        directory.mkdir(parents=True)
        (directory / "log").write_text("text")
    control.wipe(("t-0", "t-1"))

    assert sorted(path.name for path in data.iterdir()) == ["t-0", "t-1"]
    assert list(data.glob("*/*")) == []
    assert list(volatile.iterdir()) == []


def test_cleaning_removes_process_and_files(control, config):
    control.start(config)
    control.clean()

    assert control.state() == "gone"
    assert not Path(control.places.trace).exists()
    assert not Path(control.places.config).exists()


def test_a_power_loss_keeps_what_it_is_told_to(control):
    """Nothing was written, so nothing is lost; the tool runs on the machine, and what it refuses is told."""
    Path(control.places.data).mkdir(parents=True)
    control.power_loss(seed=7)
    (Path(control.places.data) / "t-0").mkdir()

    with pytest.raises(NodeError, match="cannot lose power: power_loss: t-0 has 0 batches"):
        control.power_loss(keep=3)


def test_files_are_read_whole(control):
    Path(control.places.trace).parent.mkdir(parents=True)
    Path(control.places.trace).write_bytes(b"\x00\xff")

    assert control.read(control.places.trace) == b"\x00\xff"
    with pytest.raises(NodeError):
        control.read(control.places.log)


def test_a_torn_last_line_is_no_event(control):
    trace = Path(control.places.trace)
    trace.parent.mkdir(parents=True)
    trace.write_text(json.dumps([1, 1, "lead", "t-0"]) + '\n[2, 1, "app')

    assert control.last_trace() == []
