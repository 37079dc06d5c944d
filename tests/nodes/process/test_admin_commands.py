"""The admin port of real node processes."""

import os
import socket

import pytest


@pytest.fixture
def cluster(shared_cluster):
    shared_cluster.settled()
    return shared_cluster


def test_a_brokers_status(cluster):
    leader = cluster.leader()
    cluster.produce([1, 2])
    cluster.settled()
    status = cluster.status(leader)
    assert (status["node"], status["incarnation"], status["pid"]) == (leader, 1, cluster.processes[leader].pid)
    assert status["broker_epoch"] == cluster.status(0)["sessions"][str(leader)]["broker_epoch"]
    assert status["mono_us"] > 0
    assert status["wall_us"] > 0
    assert (status["transport"], status["slow_disk_us"]) == ([], 0)
    partition = status["partitions"]["t-0"]
    assert (partition["role"], partition["leader"], partition["refused"]) == ("leader", leader, "")
    assert sorted(partition["isr"]) == sorted(partition["maximal"]) == [1, 2, 3]
    assert partition["leo"] == partition["hw"] >= 2
    assert partition["epochs"][0] == [0, 0]
    follower = next(b for b in cluster.brokers if b != leader)
    of_follower = cluster.status(follower, "t-0")
    assert (of_follower["role"], of_follower["isr"]) == ("follower", [])


def test_checkpointed_high_watermarks(cluster, eventually_true):
    cluster.produce([1])
    end = cluster.status(cluster.settled(), "t-0")["hw"]
    eventually_true(lambda: cluster.status(2, "t-0")["checkpointed_hw"] == end)


def test_the_controllers_status(cluster):
    status = cluster.status(0)
    assert set(status["sessions"]) == {"1", "2", "3"}
    assert status["sessions"]["1"]["live"]
    partition = status["partitions"]["t-0"]
    assert (partition["replicas"], partition["elr"]) == ([1, 2, 3], [])
    assert partition["leader"] == partition["last_leader"] == cluster.leader()


def test_an_operators_election(cluster):
    target = next(b for b in cluster.brokers if b != cluster.leader())
    epoch = cluster.status(0, "t-0")["leader_epoch"]
    assert cluster.admin(0)("elect", partition="t-0", how="forced", target=target)["leader"] == target
    assert cluster.settled() == target
    assert cluster.admin(0)("elect", partition="t-0", how="preferred", target=-1)["leader"] == 1
    assert cluster.settled() == 1
    assert cluster.status(0, "t-0")["leader_epoch"] in (epoch + 1, epoch + 2)


def test_the_controller_fails_and_another_one_takes_over(cluster):
    """Sessions go on, or begin anew; nobody is elected meanwhile."""
    controller, before = cluster.admin(0), cluster.status(0, "t-0")
    other = next(b for b in cluster.brokers if b != before["leader"])
    controller("controller", there=False)
    answer = controller("elect", partition="t-0", how="forced", target=other)
    assert (answer["leader"], answer["leader_epoch"]) == (before["leader"], before["leader_epoch"])
    controller("controller", there=True)
    assert controller("elect", partition="t-0", how="forced", target=other)["leader"] == other
    assert cluster.settled() == other


def test_unclean_elections_are_allowed_and_forbidden(cluster):
    controller = cluster.admin(0)
    controller("watch", events=["unclean-switch"])
    controller("unclean", on=True)
    controller("unclean", on=False)
    while len(controller.traces) < 2:
        controller.read_line()
    controller("watch", events=[])

    assert [trace[1:] for trace in controller.traces] == [[0, "unclean-switch", "", on] for on in (True, False)]
    controller.traces.clear()
    cluster.settled()


def test_watching(cluster):
    leader = cluster.leader()
    base = cluster.status(leader, "t-0")["leo"]
    admin = cluster.admin(leader)
    admin("watch", events=["append"])
    cluster.produce([1, 2, 3])
    while not admin.traces:
        admin.read_line()
    (trace,) = admin.traces
    assert trace[1:4] == [leader, "append", "t-0"]
    assert trace[4] == base
    assert trace[6] == 3
    admin("watch", events="*")
    cluster.produce([4])
    while "hw" not in [entry[2] for entry in admin.traces]:
        admin.read_line()
    admin("watch", events=[])
    admin.traces.clear()


@pytest.mark.parametrize(
    ("node", "command", "words"),
    [
        (1, {"do": "dance"}, "There is no command 'dance': known are status, log, elect"),
        (1, {}, "There is no command None"),
        (1, {"do": ["status"]}, "There is no command"),
        (1, {"do": "log"}, "log: there is no partition None."),
        (1, {"do": "log", "partition": ["t-0"]}, "log: there is no partition"),
        (0, {"do": "log", "partition": "t-0"}, "log: the controller has no log and no disk."),
        (0, {"do": "slow-disk", "delay_us": 1}, "the controller has no log and no disk"),
        (1, {"do": "slow-disk", "delay_us": -1}, "delay_us must be"),
        (1, {"do": "elect", "partition": "t-0", "how": "forced", "target": 1}, "only the controller holds elections"),
        (1, {"do": "controller", "there": True}, "only the controller, or a metadata store, can be handed over"),
        (0, {"do": "controller", "there": 1}, "there must be true or false, not 1"),
        (1, {"do": "unclean", "on": True}, "only the controller holds elections"),
        (0, {"do": "unclean", "on": 1}, "on must be true or false, not 1"),
        (0, {"do": "elect", "partition": "t-9", "how": "forced", "target": 1}, "there is no partition 't-9'"),
        (0, {"do": "elect", "partition": "t-0", "how": "fair", "target": 1}, "how must be one of preferred"),
        (
            0,
            {"do": "elect", "partition": "t-0", "how": "forced", "target": 9},
            "target must be a replica of t-0, not 9",
        ),
        (1, {"do": "transport", "key": 1, "rules": []}, "rules must be a list that is not empty"),
        (1, {"do": "transport", "rules": [{"effect": "drop"}]}, "key must be a text or a number"),
        (1, {"do": "transport", "key": 1, "rules": [{"effect": "sing"}]}, "transport: effect must be one of"),
        (1, {"do": "watch", "events": "append"}, "events must be a list of events"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(cluster, node, command, words):
    answer = cluster.admin(node).ask(command)
    assert words in answer["error"]
    assert "ok" not in answer


@pytest.mark.parametrize("line", [b"\n", b"{\n", b"[]\n", b"\xff\n", b"3\n"])
def test_what_is_no_command(cluster, line):
    port = int(cluster.config(1)["admin"].rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=5) as client, client.makefile("rb") as lines:
        client.sendall(line)
        assert b"A command is one JSON object on one line." in lines.readline()


def test_a_line_without_end_is_cut_off(cluster):
    port = int(cluster.config(1)["admin"].rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
        try:
            client.sendall(b"x" * (3 << 20))
            assert client.recv(1) == b""
        except (ConnectionResetError, BrokenPipeError):
            pass
    assert cluster.status(1)["pid"] != os.getpid()
