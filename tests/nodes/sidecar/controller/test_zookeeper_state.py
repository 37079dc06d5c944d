import json

import pytest

from tidemark.nodes.sidecar.controller.zookeeper_state import ZooKeeperControllerLog

T0 = "/brokers/topics/t/partitions/0/state"


def state(leader, epoch, isr):
    return json.dumps({"controller_epoch": 1, "leader": leader, "version": 1, "leader_epoch": epoch, "isr": isr})


@pytest.fixture
def cluster(tmp_path, zookeeper, file_header):
    """A log that a test adds to: ``cluster(entry, …)`` gives what was decided."""
    path = tmp_path / "log.1"
    path.write_bytes(file_header)
    log = ZooKeeperControllerLog(tmp_path, ["t-0"])

    def add(*entries):
        with path.open("ab") as file:
            file.write(b"".join(entries))
        return log.poll()

    add.log = log
    return add


@pytest.fixture
def led(cluster, zookeeper):
    """Broker 1 leads t-0 in epoch 0, followed by 2 and 3."""
    cluster(
        zookeeper.create("/brokers/topics/t", json.dumps({"version": 2, "partitions": {"0": [1, 2, 3]}})),
        zookeeper.create(T0, state(1, 0, [1, 2, 3])),
    )
    return cluster


def test_registration_and_the_ends_of_sessions(cluster, zookeeper):
    created = cluster(
        zookeeper.create("/brokers/ids/1", "{}", ephemeral=True, session=11),
        zookeeper.create("/brokers/ids/2", "{}", ephemeral=True, session=12),
        zookeeper.create("/brokers/ids/0", "{}", ephemeral=True, session=10),
    )
    assert created == [("register", "", 1, 1, False), ("register", "", 2, 2, False)]
    assert cluster(zookeeper.close_session(11), zookeeper.close_session(10)) == [("fence", "", 1)]
    assert cluster(zookeeper.delete("/brokers/ids/2"), zookeeper.close_session(12)) == [("fence", "", 2)]
    assert cluster(zookeeper.create("/brokers/ids/1", "{}", ephemeral=True, session=13)) == [
        ("register", "", 1, 8, False)
    ]
    assert cluster.log.sessions == {
        "1": {"live": True, "incarnation": 2, "broker_epoch": 8},
        "2": {"live": False, "incarnation": 1, "broker_epoch": 2},
    }


def test_a_restart_within_the_session_fences_and_registers(cluster, zookeeper):
    cluster(zookeeper.create("/brokers/ids/1", "{}", ephemeral=True, session=11))
    again = zookeeper.create_body("/brokers/ids/1", "{}", ephemeral=True)
    path = b"\0\0\0\x0e/brokers/ids/1"
    assert cluster(zookeeper.multi((2, path), (1, again))) == [("fence", "", 1), ("register", "", 1, 2, False)]
    assert cluster(zookeeper.close_session(11)) == []
    assert cluster.log.sessions["1"]["live"]


def test_the_first_leader_is_initial(led, zookeeper):
    assert led.log.partitions["t-0"] == {
        "leader": 1, "last_leader": 1, "leader_epoch": 0, "partition_epoch": 0,
        "isr": (1, 2, 3), "elr": (), "replicas": (1, 2, 3), "adding": (), "removing": (),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("leader", "epoch", "isr", "told"),
    [
        (1, 0, [1, 2], ("isr-change", "t-0", (1, 2), (), 1)),
        (2, 1, [2, 3], ("elect", "t-0", 2, 1, (2, 3), (), "online", True, 1)),
        (1, 1, [1, 2], ("elect", "t-0", 1, 1, (1, 2), (), "resumed", True, 1)),
        (-1, 1, [1], ("elect", "t-0", -1, 1, (1,), (), "offline", True, 1)),
    ],
)
def test_what_a_change_of_the_state_means(led, zookeeper, leader, epoch, isr, told):
    assert led(zookeeper.set_data(T0, state(leader, epoch, isr), 1)) == [told]


def test_a_leader_from_outside_the_previous_isr_is_unclean(led, zookeeper):
    led(zookeeper.set_data(T0, state(-1, 1, [1]), 1))
    (elected,) = led(zookeeper.set_data(T0, state(2, 2, [2]), 2))
    assert elected[6:8] == ("unclean", False)
    assert led.log.partitions["t-0"]["last_leader"] == 2


def test_a_leader_from_the_previous_isr_is_clean_after_a_time_without_one(led, zookeeper):
    led(zookeeper.set_data(T0, state(-1, 1, [1]), 1))
    (elected,) = led(zookeeper.set_data(T0, state(1, 2, [1]), 2))
    assert elected[6:8] == ("online", True)


@pytest.mark.parametrize("how", ["preferred", "forced"])
def test_an_election_that_was_asked_for_is_told_as_such(led, zookeeper, how):
    led.log.expect("t-0", how, 2)
    (first,) = led(zookeeper.set_data(T0, state(1, 1, [1, 2, 3]), 1))  # the replicas were put in another order
    (second,) = led(zookeeper.set_data(T0, state(2, 2, [1, 2, 3]), 2))
    (third,) = led(zookeeper.set_data(T0, state(1, 3, [1, 2, 3]), 3))
    assert [event[6] for event in (first, second, third)] == ["resumed", how, "online"]


def test_an_election_that_was_asked_for_and_forgotten_is_none(led, zookeeper):
    led.log.expect("t-0", "forced", 2)
    led.log.forget("t-0")
    (elected,) = led(zookeeper.set_data(T0, state(2, 1, [2, 3]), 1))
    assert elected[6] == "online"


def test_an_unclean_election_that_found_one_in_sync_was_forced(led, zookeeper):
    led.log.expect("t-0", "unclean", 2)
    (elected,) = led(zookeeper.set_data(T0, state(2, 1, [2, 3]), 1))
    assert elected[6:8] == ("forced", True)


def test_reassignment_changes_the_replicas(led, zookeeper):
    body = {"version": 2, "partitions": {"0": [2, 3]}, "adding_replicas": {}, "removing_replicas": {}}
    assert led(zookeeper.set_data("/brokers/topics/t", json.dumps(body), 1)) == [("reassign", "t-0", (2, 3), (), ())]
    assert led.log.partitions["t-0"]["replicas"] == (2, 3)


def test_other_topics_and_what_makes_no_sense_are_left_out(led, zookeeper):
    told = led(
        zookeeper.create("/brokers/topics/u/partitions/0/state", state(1, 0, [1])),
        zookeeper.set_data(T0, "no json", 1),
        zookeeper.set_data(T0, "[]", 2),
        zookeeper.set_data(T0, '{"leader": 3}', 3),
        zookeeper.create("/brokers/topics/t/partitions", ""),
    )
    assert told == []
    assert list(led.log.partitions) == ["t-0"]


def test_a_deleted_topic_is_gone(led, zookeeper):
    led(zookeeper.delete("/brokers/topics/t"))
    assert led.log.partitions == {}


def test_what_was_told_already_is_not_told_again(tmp_path, led, zookeeper):
    led(zookeeper.set_data(T0, state(2, 1, [2, 3]), 1), zookeeper.set_data(T0, state(2, 1, [2]), 2))
    later = ZooKeeperControllerLog(tmp_path, ["t-0"], told=2)
    assert later.poll() == [("isr-change", "t-0", (2,), (), 2)]
    assert later.partitions == led.log.partitions


def test_the_log_of_a_real_cluster(tmp_path, real_log):
    """Kafka 2.8.2 under protocol 0.10.2: forced elections of 2 and 3, a preferred one of 1, 3 stops, 2 and 1 are killed, 3 and 2
    return, an unclean election of 3, 1 returns, a reassignment to 2 and 3, a preferred election of 2."""
    (tmp_path / "log.1").write_bytes(real_log("zookeeper-2.8.2"))
    log = ZooKeeperControllerLog(tmp_path, ["t-0"])
    told = log.poll_timed()
    assert [(e[2], e[3], e[6]) for _, e in told if e[0] == "elect"] == [
        (1, 0, "initial"), (1, 1, "resumed"), (2, 2, "online"), (2, 3, "resumed"), (2, 4, "resumed"), (3, 5, "online"),
        (3, 6, "resumed"), (1, 7, "online"), (1, 8, "resumed"), (1, 9, "resumed"), (-1, 10, "offline"), (3, 11, "unclean"),
        (3, 12, "resumed"), (3, 13, "reassigned"), (3, 14, "resumed"), (2, 15, "online"),
    ]  # fmt: skip
    assert [e[2] for _, e in told if e[0] == "fence"] == [3, 2, 1]
    assert [e[2] for _, e in told if e[0] == "register"] == [3, 2, 1, 3, 2, 1]
    assert [e[2] for _, e in told if e[0] == "isr-change"] == [(3, 2), (3, 2, 1)]
    assert [e[1:] for _, e in told if e[0] == "reassign"] == [
        ("t-0", (2, 3, 1), (), (1,)), ("t-0", (2, 3), (), ()),
    ]  # fmt: skip
    assert log.partitions["t-0"] == {
        "leader": 2, "last_leader": 2, "leader_epoch": 15, "partition_epoch": 17,
        "isr": (3, 2), "elr": (), "replicas": (2, 3), "adding": (), "removing": (),
    }  # fmt: skip
    times = [at for at, _ in told]
    assert times == sorted(times)


def settings(**values):
    return json.dumps({"version": 1, "config": {name.replace("_", "."): value for name, value in values.items()}})


def test_that_unclean_elections_are_allowed_is_told(led, zookeeper):
    node = "/config/topics/t"

    assert led(zookeeper.set_data(node, settings(unclean_leader_election_enable="true"), 1)) == [
        ("unclean-switch", "", True)
    ]
    assert led(zookeeper.set_data(node, settings(unclean_leader_election_enable="true", retention_ms="1"), 2)) == []
    assert led(zookeeper.set_data(node, settings(retention_ms="1"), 3), zookeeper.set_data(node, "[]", 4)) == []
    assert led(zookeeper.set_data(node, settings(unclean_leader_election_enable="false"), 5)) == [
        ("unclean-switch", "", False)
    ]


def test_what_a_topic_begins_with_is_no_change_and_another_topic_is_none_of_ours(cluster, zookeeper):
    made = settings(unclean_leader_election_enable="true")

    assert cluster(
        zookeeper.create("/config/topics/t", made),
        zookeeper.create("/brokers/topics/t", json.dumps({"version": 2, "partitions": {"0": [1, 2, 3]}})),
        zookeeper.create("/brokers/topics/u", json.dumps({"version": 2, "partitions": {"0": [1, 2, 3]}})),
        zookeeper.set_data("/config/topics/u", made, 1),
    ) == []  # fmt: skip
