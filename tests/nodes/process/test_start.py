"""A node that cannot start says why in one sentence, and leaves its files alone."""

import json
import socket
import subprocess
import sys

import pytest


@pytest.fixture
def start(tmp_path, local_cluster):
    """Runs node 1 of a cluster that is not there; exit code and what it said."""
    cluster = local_cluster()

    def run(**entries):
        path = tmp_path / "node.json"
        path.write_text(json.dumps({**cluster.config(1), **entries}))
        found = subprocess.run(
            [sys.executable, "-m", "tidemark.nodes.process", "--config", str(path)],
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
        return found.returncode, found.stderr

    yield run
    cluster.__exit__()


def test_a_bad_configuration(start):
    code, said = start(variant="kafka-9")
    assert code == 2
    assert "unknown variant 'kafka-9'" in said
    assert "Traceback" not in said
    assert len(said.splitlines()) == 1


def test_a_missing_file(tmp_path):
    found = subprocess.run(
        [sys.executable, "-m", "tidemark.nodes.process", "--config", str(tmp_path / "none.json")],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert found.returncode == 2
    assert "cannot read" in found.stderr


@pytest.mark.parametrize("entry", ["admin", "host"])
def test_an_address_in_use_is_found_before_the_files_are_touched(start, tmp_path, entry):
    data = tmp_path / "node-1" / "data"
    data.mkdir(parents=True)
    mark = data / ".kafka_cleanshutdown"
    mark.write_text("kept")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        if entry == "admin":
            code, said = start(admin=address)
        else:
            listeners = {"internal": {"bind": "127.0.0.1:0", "advertise": "127.0.0.1:1"}}
            code, said = start(listeners={**listeners, "host": {"bind": address, "advertise": address}})
    assert code == 2
    assert f"cannot listen on {address}: Address already in use" in said
    assert "Traceback" not in said
    assert mark.read_text() == "kept"


def test_directories_that_cannot_be_made(start, tmp_path):
    (tmp_path / "file").write_text("")
    code, said = start(data=str(tmp_path / "file" / "data"))
    assert code == 2
    assert "cannot make the log directories" in said
    assert "Traceback" not in said


def test_a_trace_that_cannot_be_written(start, tmp_path):
    code, said = start(trace=str(tmp_path))
    assert code == 2
    assert "cannot write the trace" in said


def test_a_checkpoint_that_cannot_be_read_ends_the_start(start, tmp_path):
    data = tmp_path / "node-1" / "data"
    data.mkdir(parents=True)
    (data / "replication-offset-checkpoint").write_text("nonsense")
    code, said = start()
    assert code == 1
    assert "the logs cannot be loaded" in said
    assert "Traceback" not in said
    trace = [json.loads(line)[2:] for line in (tmp_path / "node-1" / "trace.jsonl").read_text().splitlines()]
    assert trace[0] == ["start", "", 1]
    assert trace[1][0] == "fatal"
    assert trace[2] == ["stop", "", "fatal"]


def test_two_processes_cannot_share_a_directory(local_cluster, tmp_path):
    with local_cluster() as cluster:
        cluster.status(1)
        free = "127.0.0.1:0"
        listeners = {name: {"bind": free, "advertise": "127.0.0.1:1"} for name in ("internal", "host")}
        path = tmp_path / "second.json"
        path.write_text(json.dumps({**cluster.config(1), "listeners": listeners, "admin": free, "incarnation": 2}))
        found = subprocess.run(
            [sys.executable, "-m", "tidemark.nodes.process", "--config", str(path)],
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
        assert found.returncode == 2
        assert "Traceback" not in found.stderr
        assert cluster.settled()
