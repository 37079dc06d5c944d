"""The sidecar as a process, around a `java` that does what a test wants."""

import errno
import json
import os
import signal
import socket
import time
from pathlib import Path

import pytest
from missing import needs
from sidecar_process import LOADED, OF_LOG, PATIENCE_S, SHUT_DOWN, appended, eventually

from tidemark.nodes.formats.record_batch import build


def test_a_life(node, serve):
    first, second, third = build([1, 2], 0, 0), build([3], 2, 0), build([4], 2, 1)
    node.start(
        ["write", "replication-offset-checkpoint", "0\n1\nt 0 1\n"],
        ["print", LOADED.format(0)],
        *serve,
        ["append", "t-0", (first + second).hex()],
        ["print", appended(0, 3)],
        ["sleep", 0.1],
        ["print", f"INFO {OF_LOG}Truncating to offset 2"],
        ["cut", "t-0", len(first)],
        ["append", "t-0", third.hex()],
        ["print", appended(2, 3)],
        "wait",
        ["print", "INFO kafka.server.KafkaServer - [KafkaServer id=1] shutting down"],
        ["print", SHUT_DOWN],
        ["exit", 143],
    ).ready()
    eventually(lambda: len(node.trace()) >= 6, "the broker's events are not traced")
    os.kill(node.jvm, signal.SIGTERM)
    assert node.wait() == 0, node.log()
    events = node.events()
    assert [event[:1] + event[2:] for event in events if event[0] != "truncate"] == [
        ["start", 3],
        ["recovered", 0, 0, -1],
        ["append", 0, 0, [1, 2]],
        ["append", 2, 0, [3]],
        ["append", 2, 1, [4]],
        ["stop", "clean"],
    ]
    assert events[4][:4] == ["truncate", "t-0", 2, 3]
    times = [entry[0] for entry in node.trace()]
    assert times == sorted(times)


def test_a_batch_that_is_cut_at_once(node, serve):
    """The line about the append and the one about the cut are read together, when the bytes are gone."""
    batch = build([1], 0, 0)
    node.start(
        ["print", LOADED.format(0)],
        ["sleep", 0.2],
        ["append", "t-0", batch.hex()],
        ["sleep", 0.2],
        ["cut", "t-0", 0],
        ["print", f"{appended(0, 1)}\n2026-11-21T14:48:36.393 INFO {OF_LOG}Truncating to offset 0"],
        *serve,
        "wait",
    ).ready()
    events = eventually(lambda: node.events()[3:], "nothing was traced")
    assert node.events()[2] == ["append", "t-0", 0, 0, [1]]
    assert events[0][:4] == ["truncate", "t-0", 0, 1]


def test_status(node, serve):
    node.start(
        ["write", "replication-offset-checkpoint", "0\n1\nt 0 7\n"],
        ["write", "t-0/leader-epoch-checkpoint", "0\n2\n0 0\n3 5\n"],
        ["print", LOADED.format(9)],
        *serve,
        "wait",
    ).ready()
    status = node.ask("status")
    assert (status["node"], status["incarnation"], status["pid"]) == (1, 3, node.jvm)
    assert abs(status["wall_us"] - time.time_ns() // 1000) < 10_000_000
    assert abs(status["mono_us"] - time.monotonic_ns() // 1000) < 10_000_000
    assert (status["transport"], status["slow_disk_us"], status["understood"]) == ([], 0, True)
    assert status["partitions"]["t-0"] == {
        "role": "no leader",
        "leader": -1,
        "leader_epoch": -1,
        "partition_epoch": -1,
        "start": 0,
        "leo": 9,
        "hw": 0,
        "isr": [],
        "maximal": [],
        "epochs": [[0, 0], [3, 5]],
        "checkpointed_hw": 7,
        "checkpointed_start": 0,
        "refused": "",
    }


def test_the_jvms_clock_is_asked_for_when_no_line_came(node, serve):
    node.start(*serve, "wait").ready()
    time.sleep(1.2)
    before = len(node.log())
    node.ask("status")
    assert "Accepted connection" in node.log()[before:]


def test_a_status_of_a_jvm_that_stands_still(node, serve):
    node.start(*serve, "wait").ready()
    os.kill(node.jvm, signal.SIGSTOP)
    time.sleep(1.2)
    assert node.ask("status")["pid"] == node.jvm
    os.kill(node.jvm, signal.SIGCONT)


def test_a_quiet_one_for_measurements(node, serve):
    """No lines beside the default ones are asked for; what comes nevertheless is not traced, nor is the JVM asked for its time."""
    steps = (["print", LOADED.format(0)], ["append", "t-0", build([1], 0, 0).hex()], ["print", appended(0, 1)])
    node.start("arguments", *steps, *serve, "wait", quiet=True).ready()
    arguments = json.loads((node.data / "arguments.json").read_text())
    assert not [option for option in arguments if "simpleLogger.log." in option]
    time.sleep(1.2)
    before = len(node.log())
    assert node.ask("status")["partitions"] == {}
    assert "Accepted connection" not in node.log()[before:]
    os.kill(node.jvm, signal.SIGKILL)
    assert node.wait() == 0
    assert node.events() == [["start", "", 3]]


def test_the_log_of_a_partition(node, serve):
    raw = build([1, 2], 0, 4) + build([3], 2, 5)
    node.start(["append", "t-0", raw.hex()], ["print", LOADED.format(3)], *serve, "wait").ready()
    assert node.ask("log", partition="t-0") == {"ok": True, "batches": [[0, 4, 2], [2, 5, 1]]}
    node.config["partitions"] = {}
    assert "there is no partition 't-1'" in node.ask("log", partition="t-1")["error"]


def test_rules_for_the_proxies(node, serve):
    node.start(*serve, "wait").ready()
    rules = [{"kind": "fetch requests", "from": 2, "effect": "drop"}]
    assert node.ask("transport", key=4, rules=rules) == {"ok": True}
    assert node.ask("status")["transport"] == [4]
    assert node.ask("transport-clear", key=4) == {"ok": True, "found": True}
    assert node.ask("transport-clear", key=4) == {"ok": True, "found": False}


CANNOT_BE_DONE = [
    ({"do": "dance"}, "There is no command 'dance': known are status, log, words"),
    (
        {"do": "elect", "partition": "t-0", "how": "forced", "target": 1},
        "elect: only the controller holds elections.",
    ),
    ({"do": "create-topics", "partitions": {"t-0": [1]}}, "only the controller creates topics"),
    ({"do": "reassign", "partition": "t-0", "replicas": [1]}, "only the controller reassigns replicas"),
    ({"do": "words", "lines": 0}, "lines must be a whole number"),
    ({"do": "slow-disk", "delay_us": -1}, "delay_us must be"),
    ({"do": "transport", "key": 1, "rules": []}, "rules must be a list"),
    ({"do": "transport", "key": 1, "rules": [{"effect": "sing"}]}, "transport: effect must be one of"),
]


def test_what_cannot_be_done_is_a_sentence(node, serve):
    node.start(*serve, "wait").ready()

    for command, words in CANNOT_BE_DONE:
        assert words in node.ask(**command)["error"]


def test_watching(node, serve):
    node.start(["print", LOADED.format(0)], *serve, "wait", ["print", SHUT_DOWN], ["exit", 0]).ready()
    with (
        socket.create_connection(("127.0.0.1", node.admin), timeout=PATIENCE_S) as client,
        client.makefile("rb") as lines,
    ):
        client.sendall(b'{"id": 1, "do": "watch", "events": "*"}\n')
        assert json.loads(lines.readline()) == {"id": 1, "ok": True}
        os.kill(node.jvm, signal.SIGTERM)
        assert json.loads(lines.readline())["trace"][1:] == [1, "stop", "", "clean"]
        assert lines.readline() == b""


def test_a_killed_jvm_has_no_last_words_in_the_trace(node, serve):
    node.start(*serve, "wait").ready()
    os.kill(node.jvm, signal.SIGKILL)
    assert node.wait() == 0
    assert node.events() == [["start", "", 3]]
    assert node.log().rstrip().endswith("sidecar: gave up: the JVM was killed by SIGKILL")


def test_a_jvm_that_is_killed_when_it_has_closed_its_logs_has_shut_down_cleanly(node, serve):
    node.start(*serve, "wait").ready()
    (node.data / ".kafka_cleanshutdown").touch()
    os.kill(node.jvm, signal.SIGKILL)
    assert node.wait() == 0
    assert node.events()[1:] == [["stop", "", "clean"]]


def test_a_jvm_that_ends_by_itself(node, serve):
    node.start(*serve, ["print-plain", "Terminating due to java.lang.OutOfMemoryError: Java heap space"], ["exit", 3])
    assert node.wait() == 1
    _, fatal, stop = node.events()
    assert fatal[:2] == ["fatal", ""]
    assert "exit code 3" in fatal[2]
    assert "java.lang.OutOfMemoryError: Java heap space" in fatal[2]
    assert stop == ["stop", "", "fatal"]


def test_a_jvm_that_is_ended_before_it_serves(node):
    node.start(["print", "INFO kafka.server.KafkaServer - starting"], "wait", ["exit", 143])
    eventually((node.root / "run" / "node.pid").exists, "the JVM was not started")
    eventually(lambda: "starting" in node.log(), "it printed nothing")
    os.kill(node.jvm, signal.SIGTERM)
    assert node.wait() == 0
    assert node.events()[-1] == ["stop", "", "crash"]


def test_a_line_that_was_not_printed_to_its_end_says_nothing(node, serve):
    line = f"2026-11-21T14:48:36.393 {LOADED.format(123)}"
    node.start(*serve, ["print-part", line[: line.index("123") + 1]], ["kill", 9])
    assert node.wait() == 0
    assert node.events() == [["start", "", 3]]
    assert "logEndOffset=1" in node.log()


def test_no_jvm_outlives_its_keeper(node, serve):
    node.start(*serve, "wait").ready()
    jvm = node.jvm
    node.process.kill()
    node.process.wait()
    eventually(lambda: not _alive(jvm), "the JVM lives on")


def _alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_the_keeper_itself_is_not_terminated(node, serve):
    node.start(*serve, "wait").ready()
    node.process.send_signal(signal.SIGTERM)
    assert node.ask("status")["pid"] == node.jvm


def test_what_the_jvm_is_given(node, serve):
    node.environment = {
        "TIDEMARK_JVM_LD_PRELOAD": "/nowhere/libclock.so",
        "FAKETIME_CACHE_DURATION": "1",
    }
    node.data.mkdir()
    node.start("environment", "arguments", *serve, "wait").ready()
    given = json.loads((node.data / "environment.json").read_text())
    assert given["LD_PRELOAD"] == "/nowhere/libclock.so"
    assert given["FAKETIME_CACHE_DURATION"] == "1"
    assert "TIDEMARK_JVM_LD_PRELOAD" not in given
    arguments = json.loads((node.data / "arguments.json").read_text())
    assert {"-Xmx64m", "-XX:+UseSerialGC", "-Dorg.slf4j.simpleLogger.log.kafka.log.Log=trace"} <= set(arguments)
    assert arguments[-4:-1] == ["-cp", "/nowhere/libs/*", "kafka.Kafka"]


def test_process_files(node, serve):
    node.start(*serve, "wait").ready()
    for name, pid in (("node.pid", node.jvm), ("node.pid.sidecar", node.process.pid)):
        number, since = (node.root / "run" / name).read_text().split()
        assert int(number) == pid
        assert since == Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]


def test_a_successor_waits_for_the_trace_to_be_whole(node, serve):
    node.start(*serve, "wait").ready()
    first = node.process
    node.start(*serve, "wait", incarnation=4)
    time.sleep(0.3)
    assert node.process.poll() is None
    assert [entry[2] for entry in node.trace()] == ["start"]
    os.kill(node.jvm, signal.SIGKILL)
    assert first.wait(PATIENCE_S) == 0
    node.ready()
    assert node.events() == [["start", "", 3], ["start", "", 4]]


WHO_CLOSES = """
import os, socket, sys
from types import SimpleNamespace
from tidemark.nodes.sidecar import start

def close(descriptor):
    path = os.readlink(f"/proc/self/fd/{descriptor}")
    with socket.socket() as client:
        print("closes", path, client.connect_ex(("127.0.0.1", int(sys.argv[1]))), flush=True)
    os.close(descriptor)

start.os = SimpleNamespace(**{**vars(os), "close": close})
sys.exit(start.main(["--config", sys.argv[2]]))
"""
"""A sidecar that tells, when it lets its lock go, whether somebody listens at its port."""


def test_who_lets_a_successor_begin_listens_no_more(node, serve):
    node.start(*serve, "wait", program=["-c", WHO_CLOSES, str(node.admin)]).ready()
    os.kill(node.jvm, signal.SIGKILL)
    assert node.wait() == 0
    (said,) = (line.split() for line in node.log().splitlines() if line.startswith("closes "))
    assert said == ["closes", f"{node.config['process']}.lock", str(errno.ECONNREFUSED)]


def test_a_version_that_is_not_understood(node, serve):
    node.start(*serve[:1], "wait", version="3.5.1").ready()
    status = node.ask("status")
    assert status["understood"] is False
    assert "3.5.1" in status["why"]


def test_a_program_that_is_not_there(node):
    (node.java_path / "java").unlink()
    node.environment = {"PATH": str(node.java_path)}
    path = os.environ["PATH"]
    try:
        os.environ["PATH"] = ""
        node.start("wait")
    finally:
        os.environ["PATH"] = path
    assert node.wait() == 1
    assert [event[0] for event in node.events()] == ["start", "fatal", "stop"]
    assert "java" in node.events()[1][2]


def test_an_address_that_is_taken(node):
    with socket.create_server(("127.0.0.1", node.admin)):
        node.start("wait")
        assert node.wait() == 2
    assert f"cannot listen on 127.0.0.1:{node.admin}" in node.log()
    assert node.trace() == []


def test_a_configuration_that_cannot_be_used(node):
    node.start("wait", role="king")
    assert node.wait() == 2
    assert "role must be one of broker, zookeeper, kraft-controller, not 'king'" in node.log()


class TestControllersMachine:
    @pytest.fixture
    def machine(self, node):
        self.zookeeper = node.zookeeper
        node.config |= {
            "node": 0,
            "role": "zookeeper",
            "zookeeper": {"dataDir": str(node.data / "zookeeper"), "clientPort": self.zookeeper},
        }
        node.config["properties"] |= {"broker.id": 0, "zookeeper.session.timeout.ms": 3000}
        node.environment = {"TIDEMARK_JVM_LD_PRELOAD": "/nowhere/libclock.so"}
        return node

    def test_zookeeper_comes_first_and_ends_last(self, machine, serve):
        machine.start(*serve, "wait").ready()
        assert machine.ask("status")["node"] == 0
        assert "zookeeper 20" in machine.log()
        socket.create_connection(("127.0.0.1", self.zookeeper), timeout=5).close()
        os.kill(machine.jvm, signal.SIGKILL)
        assert machine.wait() == 0
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", self.zookeeper), timeout=5)

    def test_its_broker_waits_until_zookeeper_has_forgotten_its_last_life(self, machine, serve):
        machine.config["zookeeper"]["test.session"] = "1.5"
        machine.start("arguments", *serve, "wait")
        eventually(lambda: "binding" in machine.log(), "ZooKeeper was not started")
        time.sleep(0.5)
        assert not (machine.data / "arguments.json").exists(), machine.log()
        machine.ready()
        start, waited, *_ = machine.trace()
        assert start[2:] == ["start", "", 3]
        assert waited[2:5] == ["waited", "", "for the session of its last life to end"]
        assert 500_000 < waited[5] < 15_000_000

    def test_a_broker_that_nobody_remembers_does_not_wait(self, machine, serve):
        machine.start(*serve, "wait").ready()
        assert "waited" not in [event[0] for event in machine.events()]

    def test_zookeeper_stands_still_with_its_broker(self, machine, serve):
        machine.start(*serve, "wait").ready()
        (zookeeper,) = [pid for pid in _children(machine.process.pid) if pid != machine.jvm]
        os.kill(machine.jvm, signal.SIGSTOP)
        eventually(lambda: _state(zookeeper) == "T", "ZooKeeper goes on")
        os.kill(machine.jvm, signal.SIGCONT)
        eventually(lambda: _state(zookeeper) != "T", "ZooKeeper stands still")

    def test_a_zookeeper_that_does_not_start(self, machine, serve):
        machine.config["zookeeper"]["test.broken"] = 1
        machine.start(*serve, "wait")
        assert machine.wait() == 1
        assert "Address already in use" in machine.events()[1][2]

    def test_a_zookeeper_that_ends(self, machine, serve):
        machine.start(*serve, "wait").ready()
        jvm = machine.jvm
        (zookeeper,) = [pid for pid in _children(machine.process.pid) if pid != jvm]
        os.kill(zookeeper, signal.SIGKILL)
        assert machine.wait() == 1
        assert "ZooKeeper ended by itself" in machine.events()[-2][2]
        assert not _alive(jvm)

    def test_there_is_no_log(self, machine, serve):
        machine.start(*serve, "wait").ready()
        assert machine.ask("log", partition="t-0")["error"] == "log: the controller has no log and no disk."


def _children(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _state(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@needs("strace")
def test_a_slow_disk(node, serve):
    node.start(*serve, "wait").ready()
    assert node.ask("slow-disk", delay_us=1000) == {"ok": True}
    assert node.ask("status")["slow_disk_us"] == 1000
    assert node.ask("slow-disk", delay_us=0) == {"ok": True}
    assert node.ask("status")["slow_disk_us"] == 0
