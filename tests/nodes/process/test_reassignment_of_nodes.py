"""Replicas move between real node processes: logs are copied, and deleted."""

import pytest

from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import Settings

FOUR = ClusterSpec(brokers=4, settings=Settings(session_us=1_000_000, lag_time_us=400_000))
T = "t-0"


@pytest.fixture(params=["kafka-2.1", "kafka-3.7"], ids=["ZooKeeper", "KRaft"])
def four(local_cluster, request):
    """Four brokers; the partition is on the first three."""
    with local_cluster(request.param, FOUR) as cluster:
        yield cluster


def reassign(cluster, *replicas):
    return cluster.admin(0)("reassign", partition=T, replicas=list(replicas))


def replicas(cluster):
    status = cluster.status(0, T)
    return status["replicas"], status["adding"], status["removing"]


def directories(cluster, broker):
    """Where a broker has something of the partition."""
    folder = cluster.folder(broker)
    return [place for place in ("data", "volatile") for found in (folder / place).glob(f"{T}*") if found.exists()]


def moved(cluster, eventually_true, *to):
    reassign(cluster, *to)
    eventually_true(lambda: replicas(cluster) == (list(to), [], []), "it has come to its end")


def test_a_leader_moves_with_its_log(four, eventually_true):
    four.produce([1, 2])
    four.produce([3])
    assert four.settled() == 1
    moved(four, eventually_true, 2, 3, 4)
    eventually_true(lambda: directories(four, 1) == [], "the log is deleted")
    four.produce([4])
    four.settled()

    assert four.leader() == 2
    assert T not in four.status(1)["partitions"]
    assert [sum(count for _, _, count in four.admin(b)("log", partition=T)["batches"]) for b in (2, 3, 4)] == [4, 4, 4]
    assert eventually_true(lambda: four.trace(1, "removed"))[0][3:5] == [T, 3]
    assert [entry[5] for entry in four.trace(0, "ordered")] == [True]
    told = [entry[4:7] for entry in four.trace(0, "reassign")]
    assert told == [[[2, 3, 4, 1], [4], [1]], [[2, 3, 4], [], []]]


def test_one_that_moves_away_and_back_begins_with_nothing(four, eventually_true):
    four.produce([1, 2])
    four.settled()
    moved(four, eventually_true, 1, 2, 4)
    eventually_true(lambda: directories(four, 3) == [], "the log is deleted")
    moved(four, eventually_true, 1, 2, 3)
    four.produce([3])
    four.settled()

    told = [entry for entry in four.trace(3) if entry[2] in ("append", "follow", "removed")]
    (at,) = [number for number, entry in enumerate(told) if entry[2] == "removed"]
    assert [entry[4] for entry in told if entry[2] == "append"] == [0, 0, 2]
    assert told[at + 1][6:8] == [0, 0]


def test_a_producer_goes_on_where_the_leader_moved(four, eventually_true):
    for value in range(5):
        four.produce([value])
        if value == 2:
            moved(four, eventually_true, 4, 2, 3)
    leader = four.settled()

    assert leader == 4
    assert four.status(leader, T)["leo"] == 5


def test_one_that_cannot_be_is_refused_in_words_and_what_is_none_is_a_sentence(four):
    for replicas, words in (
        ([1, 9], "there is no broker 9"),
        ([1, 1], "no broker has two of one partition"),
        ([], "a partition has at least one replica"),
    ):
        assert words in four.admin(0)("reassign", partition=T, replicas=replicas)["refused"]
    assert four.trace(0, "reassign") == four.trace(0, "ordered") == []

    ask = four.admin(0).ask
    assert "replicas must be a list of brokers" in ask({"do": "reassign", "partition": T, "replicas": "4"})["error"]
    assert "there is no partition 't-9'" in ask({"do": "reassign", "partition": "t-9", "replicas": [4]})["error"]
    assert "only the controller reassigns" in four.admin(1).ask({"do": "reassign", "partition": T})["error"]


def test_with_kraft_a_log_that_was_moved_while_its_broker_was_down_is_deleted_at_the_start(
    local_cluster, eventually_true
):
    with local_cluster("kafka-3.7", FOUR) as cluster:
        cluster.produce([1, 2])
        cluster.settled()
        cluster.kill(3)
        moved(cluster, eventually_true, 1, 2, 4)
        cluster.start(3)
        eventually_true(lambda: cluster.trace(3, "removed"), "the log is deleted")
        eventually_true(lambda: directories(cluster, 3) == [], "its folders are gone")

        assert [entry[2] for entry in cluster.trace(3) if entry[3] == T][-2:] == ["recovered", "removed"]


def test_with_zookeeper_it_stays(local_cluster, eventually_true):
    with local_cluster("kafka-2.1", FOUR) as cluster:
        cluster.produce([1, 2])
        cluster.settled()
        cluster.kill(3)
        moved(cluster, eventually_true, 1, 2, 4)
        cluster.start(3)
        eventually_true(lambda: cluster.status(0)["sessions"]["3"]["incarnation"] == 2, "it is back")

        assert directories(cluster, 3) == ["data", "volatile"]
        assert cluster.status(3, T)["role"] == "no leader"
