"""Log starts in real node processes: a deletion on every replica, across a crash, and for a broker that comes too late."""

from datetime import timedelta

import pytest
from kio.schema.delete_records.v1.request import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from kio.schema.errors import ErrorCode

from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import Settings

QUICK = ClusterSpec(settings=Settings(session_us=1_000_000, lag_time_us=400_000, log_start_checkpoint_us=200_000))
T = "t-0"


def delete(cluster, offset):
    """The low watermark."""
    part = DeleteRecordsPartition(partition_index=0, offset=offset)
    body = DeleteRecordsRequest(
        topics=(DeleteRecordsTopic(name="t", partitions=(part,)),), timeout=timedelta(seconds=5)
    )
    client = cluster.client(cluster.leader())
    try:
        (found,) = client.ask(21, 1, body).topics[0].partitions
    finally:
        client.close()
    assert found.error_code is ErrorCode.none
    return found.low_watermark


def log_of(cluster, broker):
    """(log start, log end, (base offset, epoch) of each batch)."""
    status = cluster.status(broker, T)
    batches = cluster.admin(broker)("log", partition=T)["batches"]
    return status["start"], status["leo"], [(base, epoch) for base, epoch, _ in batches]


@pytest.mark.parametrize("variant", ["kafka-0.11", "kafka-3.7"])
def test_a_deletion_reaches_every_replica_and_survives_a_crash(local_cluster, eventually_true, variant):
    with local_cluster(variant, QUICK) as cluster:
        leader = cluster.settled()
        for values in ([1, 2], [3, 4], [5]):
            cluster.produce(values)
        cluster.settled()
        assert delete(cluster, 3) == 3
        assert [log_of(cluster, broker) for broker in cluster.brokers] == [(3, 5, [(0, 0), (2, 0), (4, 0)])] * 3
        follower = next(broker for broker in cluster.brokers if broker != leader)
        eventually_true(lambda: cluster.status(follower, T)["checkpointed_start"] == 3)
        cluster.kill(follower)
        cluster.start(follower)
        cluster.settled()

        assert log_of(cluster, follower) == (3, 5, [(0, 0), (2, 0), (4, 0)])
        told = [entry[4:7] for entry in cluster.trace(follower, "log-start")]
        assert told == [[3, 0, "leader"], [3, 0, "recovered"]]
        assert cluster.trace(leader, "log-start")[0][4:7] == [3, 0, "delete-records"]


def test_retention_is_one_brokers_own(local_cluster):
    with local_cluster("kafka-3.7", QUICK) as cluster:
        leader = cluster.settled()
        for values in ([1, 2], [3, 4], [5]):
            cluster.produce(values)
        cluster.settled()
        follower = next(broker for broker in cluster.brokers if broker != leader)
        cluster.admin(follower)("retention", partition=T, batches=2)
        cluster.kill(follower)
        cluster.start(follower)
        cluster.settled()

        assert log_of(cluster, follower) == (4, 5, [(4, 0)])
        assert log_of(cluster, leader) == (0, 5, [(0, 0), (2, 0), (4, 0)])
        (file,) = (cluster.folder(follower) / "data" / T).glob("*.log")
        assert file.name == "00000000000000000004.log"


def test_a_broker_that_comes_back_below_the_log_start_begins_anew(local_cluster, eventually_true):
    with local_cluster("kafka-3.7", QUICK) as cluster:
        leader = cluster.settled()
        cluster.produce([1, 2])
        cluster.settled()
        late = next(broker for broker in cluster.brokers if broker != leader)
        cluster.kill(late)
        eventually_true(lambda: len(cluster.status(0, T)["isr"]) == 2)
        cluster.produce([3, 4])
        cluster.produce([5])
        assert delete(cluster, 4) == 4
        cluster.admin(leader)("retention", partition=T, batches=1)
        cluster.start(late)
        cluster.settled()

        assert log_of(cluster, late) == (4, 5, [(4, 0)])
        assert [entry[4:7] for entry in cluster.trace(late, "log-start")] == [[4, 0, "begin-anew"]]


@pytest.mark.parametrize(
    ("node", "command", "words"),
    [
        (1, {"do": "retention", "partition": T, "batches": -1}, "batches must be a whole number"),
        (1, {"do": "retention", "partition": T}, "batches must be a whole number"),
        (1, {"do": "retention", "partition": "t-9", "batches": 1}, "there is no partition 't-9'"),
        (0, {"do": "retention", "partition": T, "batches": 1}, "the controller has no log and no disk"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(shared_cluster, node, command, words):
    assert words in shared_cluster.admin(node).ask(command)["error"]
