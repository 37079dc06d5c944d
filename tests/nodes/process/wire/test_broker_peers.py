"""What nodes ask each other, asked by a test: answers, refusals, and who gets the questions of clients."""

import signal
from dataclasses import replace

import pytest

from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.messages import AlterPartition, EpochRequest, FetchRequest, Heartbeat, LeaderAndIsr, Register
from tidemark.nodes.core.settings import Settings
from tidemark.nodes.core.variant import parse_variant
from tidemark.nodes.formats.wire.names import topics_by_id
from tidemark.nodes.process.wire import translate_control, translate_epoch
from tidemark.nodes.process.wire.translate_fetch import FetchTranslation, fetch_version


@pytest.fixture
def cluster(shared_cluster):
    shared_cluster.settled()
    return shared_cluster


@pytest.fixture
def fetches():
    return FetchTranslation(fetch_version(parse_variant("kafka-2.7"), 2), Settings(), topics_by_id(["t-0"]))


@pytest.fixture
def state(cluster):
    """What the controller would tell the leader now."""
    leader = cluster.leader()
    found = cluster.status(0, "t-0")
    return LeaderAndIsr(
        0,
        "t-0",
        found["leader"],
        found["leader_epoch"],
        tuple(found["isr"]),
        found["partition_epoch"],
        (1, 2, 3),
        cluster.status(leader)["broker_epoch"],
        (1, 2, 3),
    )


def test_a_state_is_acknowledged_if_it_was_meant_for_this_incarnation(cluster, state):
    client = cluster.client(cluster.leader(), "internal")
    assert translate_control.state_taken(client.ask(4, 4, translate_control.state_request(state)))
    known_but_misaddressed = replace(state, broker_epoch=state.broker_epoch + 1)
    assert translate_control.state_taken(client.ask(4, 4, translate_control.state_request(known_but_misaddressed)))
    news = replace(known_but_misaddressed, partition_epoch=state.partition_epoch + 100)
    answer = client.ask(4, 4, translate_control.state_request(news))
    assert answer.error_code.name == "stale_broker_epoch"
    assert cluster.status(cluster.leader(), "t-0")["partition_epoch"] == state.partition_epoch


@pytest.mark.parametrize(
    "change",
    [
        {"partition": "t-7"},
        {"leader": 9},
        {"isr": (1, 9)},
        {"replicas": (3, 2, 9)},
        {"replicas": ()},
        {"replicas": (3, 2, 2)},
        {"leader_epoch": -1},
        {"eligible": (9,)},
    ],
    ids=str,
)
def test_an_impossible_state_closes_the_connection(cluster, state, change):
    client = cluster.client(cluster.leader(), "internal")
    client.send(4, 4, translate_control.state_request(replace(state, **change)))
    assert client.was_closed()
    cluster.settled()


def test_states_are_not_taken_on_the_host_listener(cluster, state):
    client = cluster.client(cluster.leader(), "host")
    client.send(4, 4, translate_control.state_request(state))
    assert client.was_closed()


def test_an_epoch_question_is_answered(cluster):
    leader = cluster.leader()
    status = cluster.status(leader, "t-0")
    asked = EpochRequest(2 if leader != 2 else 3, "t-0", 0, status["leader_epoch"], 1)
    client = cluster.client(leader, "internal")
    answer = translate_epoch.answer(client.ask(23, 3, translate_epoch.request(asked, 3)), asked, leader)
    assert (answer.error, answer.answer.epoch) == (None, 0)
    wrong = replace(asked, current_epoch=status["leader_epoch"] + 1)
    answer = translate_epoch.answer(client.ask(23, 3, translate_epoch.request(wrong, 3)), asked, leader)
    assert answer.error == "UNKNOWN_LEADER_EPOCH"


def test_a_later_fetch_frees_the_one_before(local_cluster, fetches):
    """Both wait at the log's end; only the second one is answered, and its answer is not held up by the first.

    The follower stands still meanwhile, and is missed by nobody: a fetch of its own would free both.
    """
    patient = Settings(lag_time_us=60_000_000, session_us=60_000_000)
    with local_cluster(cluster=ClusterSpec(brokers=2, replication_factor=2, settings=patient)) as cluster:
        leader = cluster.settled()
        cluster.signal(3 - leader, signal.SIGSTOP)
        status = cluster.status(leader, "t-0")
        last = status["epochs"][-1][0]
        asked = FetchRequest(3 - leader, "t-0", status["leo"], status["leader_epoch"], last, -1, 1)
        client = cluster.client(leader, "internal")
        client.send(1, 12, fetches.request(asked))
        second = client.send(1, 12, fetches.request(asked))
        correlation, entity = client.receive(1, 12)
        assert correlation == second
        assert fetches.answer(entity, asked, leader).error is None


@pytest.mark.parametrize("source", [9, 0])
def test_a_fetch_of_nobody_closes_the_connection(cluster, fetches, source):
    client = cluster.client(cluster.leader(), "internal")
    client.send(1, 12, fetches.request(FetchRequest(source, "t-0", 0, 0, 0, -1, 1)))
    assert client.was_closed()


@pytest.mark.parametrize("listener", ["internal", "host"])
def test_a_client_cannot_fetch_as_followers_do(cluster, fetches, listener):
    client = cluster.client(cluster.leader(), listener)
    client.send(1, 12, fetches.request(FetchRequest(-1, "t-0", 0, 0, 0, -1, 1)))
    assert client.was_closed()


def test_clients_on_the_internal_listener_get_the_client_apis(cluster, produce):
    leader = cluster.leader()
    answer = cluster.client(leader, "internal").ask(0, 7, produce([1], acks=1))
    assert answer.responses[0].partition_responses[0].error_code.name == "none"


def test_the_controller_refuses_an_incarnation_that_is_over(cluster):
    client = cluster.client(0, "internal")
    latest = cluster.status(0)["sessions"]["1"]
    same = Register(1, latest["incarnation"], -1)
    answer = translate_control.register_answer(client.ask(62, 3, translate_control.register_request(same)), same)
    assert answer.broker_epoch == latest["broker_epoch"]


@pytest.mark.parametrize(
    ("key", "version", "entity"),
    [
        (62, 3, translate_control.register_request(Register(9, 1, -1))),
        (63, 0, translate_control.heartbeat_request(Heartbeat(9, 1))),
        (56, 3, translate_control.alter_request(AlterPartition(9, "t-0", 0, 0, ((1, 1),), 1, 1))),
        (56, 3, translate_control.alter_request(AlterPartition(1, "u-0", 0, 0, ((1, 1),), 1, 1))),
        (56, 3, translate_control.alter_request(AlterPartition(1, "t-7", 0, 0, ((1, 1),), 1, 1))),
        (56, 3, translate_control.alter_request(AlterPartition(1, "t-0", 0, 0, ((9, 1),), 1, 1))),
        (56, 3, translate_control.alter_request(AlterPartition(1, "t-0", 0, 0, (), 1, 1))),
        (56, 3, translate_control.alter_request(AlterPartition(1, "t-0", 0, 0, ((1, 1), (1, 1)), 1, 1))),
    ],
)
def test_the_controller_closes_the_connection_of_who_makes_no_sense(cluster, key, version, entity):
    client = cluster.client(0, "internal")
    client.send(key, version, entity)
    assert client.was_closed()
    cluster.settled()


def test_a_stale_heartbeat_is_told_so(cluster):
    stale = translate_control.heartbeat_request(Heartbeat(1, 77))
    assert cluster.client(0, "internal").ask(63, 0, stale).error_code.name == "stale_broker_epoch"
