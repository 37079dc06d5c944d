"""``tidemark images``, ``cluster`` and ``doctor``: what a person types, and what is left afterwards."""

import json
import os
import secrets
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from local_cluster import eventually

from tidemark.cli import doctor as doctor_module
from tidemark.cli import main
from tidemark.cli.finding import Finding
from tidemark.harness.machines.cluster_keys import key_file
from tidemark.harness.machines.leftovers import every, remove
from tidemark.harness.machines.owner import Owner

docker = pytest.mark.docker


@pytest.fixture(autouse=True)
def own_state(monkeypatch, tmp_path_factory):
    """Keys of clusters go where nobody else looks."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
    monkeypatch.setattr("tidemark.harness.machines.leftovers.offer_cleanup", lambda console: None)


@pytest.fixture
def tidemark(monkeypatch):
    """Run the program; gives exit code, output and complaint."""

    def run(*words):
        out, error = StringIO(), StringIO()
        monkeypatch.setenv("COLUMNS", "200")
        monkeypatch.setattr(sys, "argv", ["tidemark", *map(str, words)])
        with redirect_stdout(out), redirect_stderr(error), pytest.raises(SystemExit) as end:
            main()
        said = (text.getvalue().replace("python -m pytest.", "") for text in (out, error))  # click's idea of our name
        return end.value.code, *said

    return run


@pytest.fixture
def name(engine):
    """Of a cluster that is gone when the test is over, whatever happened."""
    name = f"test-{secrets.token_hex(4)}"
    yield name
    remove(engine, every(engine, name))


# Without an engine


@pytest.mark.parametrize(
    "words",
    [("images", "build"), ("images", "list"), ("cluster", "up"), ("cluster", "status"), ("cluster", "down", "--all")],
)
def test_without_an_engine_every_command_says_what_to_do_in_one_line(tidemark, monkeypatch, words):
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")

    assert tidemark(*words) == (
        254,
        "",
        "tidemark: no Docker engine answers at DOCKER_HOST=tcp://127.0.0.1:1; start it there, or run: unset DOCKER_HOST\n",
    )


@pytest.mark.parametrize(
    "words",
    [("images",), ("images", "build"), ("images", "list")]
    + [("cluster", verb) for verb in ("up", "status", "logs", "down")]
    + [("cluster",), ("doctor",)],
)
def test_every_command_explains_itself(tidemark, words):
    code, out, error = tidemark(*words, "--help")

    assert (code, error) == (0, "")
    assert out.startswith(f"Usage: tidemark {' '.join(words)}")
    assert "Examples:" in out or words in {("images",), ("cluster",)}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (
            ("cluster", "down", "a", "--all"),
            "give a NAME, or --all, or --hosts FILE (try tidemark cluster down --help)",
        ),
        (("cluster", "down", "--hosts", "/nowhere"), "cannot read the hosts file /nowhere: No such file or directory"),
        (
            ("cluster", "up", "--brokers", "2", "--replication-factor", "3"),
            "impossible cluster: replication factor 3 is larger than the number of brokers 2 (try tidemark cluster up --help)",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(tidemark, words, why):
    assert tidemark(*words) == (254, "", f"tidemark: {why}\n")


def test_what_only_containers_need_counts_only_when_they_are_wanted(tidemark, monkeypatch):
    missing = Finding("Docker engine", well=False, found="none", advice="run: something", optional=True)
    monkeypatch.setattr(doctor_module, "container_findings", lambda: [missing])

    assert tidemark("doctor")[0] == 0
    code, out, _ = tidemark("doctor", "--world", "docker")

    assert code == 1
    assert out.endswith("✗ Docker engine: none — run: something\n")
    assert json.loads(tidemark("doctor", "--json")[1])[-1] == {
        "what": "Docker engine",
        "well": False,
        "found": "none",
        "advice": "run: something",
        "optional": True,
    }


def test_the_doctor_looks_no_further_when_there_is_no_engine(tidemark, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")

    findings = {one["what"]: one for one in json.loads(tidemark("doctor", "--json")[1])}

    assert findings["Docker engine"]["well"] is False
    assert findings["Docker engine"]["advice"] == "start it there, or run: unset DOCKER_HOST"
    assert findings["containers"]["well"] is True
    assert "delay" not in findings


# With one


@docker
def test_the_doctor_says_what_the_kernel_can_do(tidemark, image):
    findings = {one["what"]: one["found"] for one in json.loads(tidemark("doctor", "--json")[1])}

    assert findings["node image"].startswith("tidemark/node:")
    assert findings["delay"] in {"netem", "the node's own transport (this kernel has no netem)"}
    assert findings["loss"] in {"iptables -m statistic", "this kernel has no iptables -m statistic"}


@docker
def test_an_image_that_is_built_is_found_and_listed(tidemark, image):
    code, out, error = tidemark("images", "build", "--json")

    waits = ("waiting for another command", "asking the engine")  # other tests build images, too
    assert (code, [line for line in error.splitlines() if not line.startswith(waits)]) == (0, [])
    assert json.loads(out)["id"] == image
    code, out, error = tidemark("images", "list", "--json")
    assert [one["current"] for one in json.loads(out) if one["id"] == image] == [True]
    assert json.loads(out)[0].keys() == {"name", "id", "created", "size", "current", "version"}


@docker
def test_the_image_of_a_file_of_ones_own_is_built(tidemark, image):
    code, out, _ = tidemark("images", "build", "--system", "examples/chain_log.py", "--json")

    assert code == 0
    told = json.loads(out)
    assert told["name"].startswith("tidemark/outside:")
    assert told["id"] != image


@docker
@pytest.mark.slow
def test_a_cluster_by_hand_outlives_the_command_until_it_is_taken_down(tidemark, engine, image, name):
    code, out, _ = tidemark("cluster", "up", name, "--brokers", "2", "--variant", "kafka-2.1", "--detach")
    assert code == 0
    assert out.startswith(f"{name}: a controller and 2 brokers, kafka-2.1\nbootstrap servers: 127.0.0.1:")
    assert f"to remove it: tidemark cluster down {name}" in out

    code, out, _ = tidemark("cluster", "status", name, "--json")
    (status,) = json.loads(out)["clusters"]
    assert (code, status["owner"], status["stale"], status["variant"]) == (0, "started by hand", False, "kafka-2.1")
    assert [node["name"] for node in status["nodes"]] == ["controller", "b1", "b2"]
    assert status["nodes"][0]["state"]["partitions"]["t-0"]["leader"] == 1
    assert status["nodes"][1]["state"]["partitions"]["t-0"]["role"] == "leader"
    assert status["bootstrap_servers"] == f"{status['nodes'][1]['listener']},{status['nodes'][2]['listener']}"
    code, out, _ = tidemark("cluster", "status", name)
    assert (code, out.startswith(f"{name}, kafka-2.1 (started by hand)\n")) == (0, True)
    assert "t-0: leader b1 in epoch 0, ISR b1, b2" in out

    code, out, _ = tidemark("cluster", "logs", "b1", "--name", name)
    assert (code, "kafka-2.1" in out) == (0, True)
    assert tidemark("cluster", "logs", "b9", "--name", name) == (
        254,
        "",
        f"tidemark: {name} has no node b9; it has controller, b1, b2\n",
    )
    assert tidemark("cluster", "up", name)[0] == 254
    assert key_file(name).exists()

    assert tidemark("cluster", "down", name) == (0, f"{name} is removed (7 containers, networks and volumes)\n", "")
    assert every(engine, name) == []
    assert not key_file(name).parent.exists()


@docker
def test_what_a_living_run_has_is_removed_only_by_force(tidemark, engine, image, name):
    engine.containers.create(
        image, name=f"tidemark-{name}-b1", labels={**Owner.this_process().labels(name), "tidemark.node": "1"}
    )

    code, _, error = tidemark("cluster", "down", name)
    assert code == 254
    assert error == (f"tidemark: {name} is in use by process {os.getpid()}; remove it all the same with --force\n")
    (found,) = json.loads(tidemark("cluster", "status", name, "--json")[1])["clusters"]
    assert found["nodes"][0]["state"] == {"error": "its container does not run"}

    assert tidemark("cluster", "down", name, "--force")[0] == 0
    assert every(engine, name) == []


@docker
def test_what_does_not_exist_is_told(tidemark, engine):
    code, _, error = tidemark("cluster", "down", "nobody-made-this")

    assert code == 254
    assert error.startswith("tidemark: there is no cluster nobody-made-this")


@docker
@pytest.mark.slow
def test_control_c_pressed_twice_while_a_cluster_comes_up_leaves_nothing(engine, image, name):
    command = [str(Path(sys.executable).with_name("tidemark")), "cluster", "up", name, "--brokers", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        while not every(engine, name):
            assert program.poll() is None
        program.send_signal(signal.SIGINT)
        program.send_signal(signal.SIGINT)
        program.communicate(timeout=60)

    assert program.returncode == 130
    assert every(engine, name) == []


@docker
@pytest.mark.slow
def test_a_kill_while_a_cluster_is_there_leaves_nothing_and_no_key(engine, image, name):
    command = [str(Path(sys.executable).with_name("tidemark")), "cluster", "up", name, "--brokers", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as program:
        for line in program.stdout:
            if line.startswith("to remove it"):
                break
        assert key_file(name).exists()
        assert len(every(engine, name)) == 5
        program.kill()

    eventually(lambda: not every(engine, name) and not key_file(name).parent.exists())
