"""The families without a controller as processes on loopback: they elect, replicate, survive kill -9, and keep their votes."""

import json
from datetime import timedelta

import pytest
from kio.schema.fetch.v4.request import FetchPartition, FetchRequest, FetchTopic

from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import Settings
from tidemark.nodes.formats.record_batch import split, values_of

QUICK = ClusterSpec(settings=Settings(session_us=600_000, heartbeat_us=100_000))


def read(cluster, broker):
    """What a consumer gets of a broker, or the error's name."""
    part = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    whole = FetchRequest(max_wait=timedelta(0), min_bytes=0, topics=(FetchTopic(topic="t", partitions=(part,)),))
    client = cluster.client(broker)
    (answer,) = client.ask(1, 4, whole).responses[0].partitions
    batches = split(bytes(answer.records or b""), control=True)
    return [value for raw in batches for value in values_of(raw)] or answer.error_code.name


@pytest.mark.parametrize(
    ("variant", "of_a_follower"),
    [
        pytest.param(
            "raft", "not_leader_or_follower", marks=pytest.mark.slow
        ),  # in containers in every run of the tests
        ("quorum-hwm+repaired", [1, 2, 3, 4]),
        ("reconciliation+own-generation", "not_leader_or_follower"),
        ("raft+pre-vote+lease-reads", "not_leader_or_follower"),
    ],
)
def test_elects_replicates_and_recovers(local_cluster, eventually_true, variant, of_a_follower):
    with local_cluster(variant, QUICK) as cluster:
        leader = cluster.settled()
        assert cluster.produce([1, 2, 3]).error_code.name == "none"
        first = cluster.status(leader, "t-0")["leader_epoch"]
        cluster.settled()
        cluster.kill(leader)
        second = eventually_true(lambda: cluster.leader() != leader and cluster.leader())
        assert cluster.produce([4]).error_code.name == "none"
        assert cluster.status(second, "t-0")["leader_epoch"] > first
        cluster.start(leader)
        cluster.settled()
        logs = [cluster.admin(broker)("log", partition="t-0")["batches"] for broker in cluster.brokers]
        assert logs[0] == logs[1] == logs[2]
        follower = next(broker for broker in cluster.brokers if broker != cluster.leader())
        seen = read(cluster, follower)
        assert (seen if isinstance(seen, str) else [v for v in seen if v > 0]) == of_a_follower
        assert isinstance(seen, str) or any(v < 0 for v in seen)  # no-ops: as many as there were elections
        for node in cluster.brokers:
            assert cluster.terminate(node) == 0, (cluster.folder(node) / "log").read_text()
            vote = json.loads((cluster.folder(node) / "data" / "t-0" / "quorum-state").read_text())
            told = cluster.trace(node, "vote")[-1][4:6]
            assert vote["leaderEpoch"] >= told[0]
            assert [vote["leaderEpoch"], vote["votedId"]] == told or vote["votedId"] == -1


def test_a_server_stands_for_election_when_asked_and_knows_no_retention(local_cluster, eventually_true):
    with local_cluster("raft", ClusterSpec(brokers=2, replication_factor=2, settings=QUICK.settings)) as cluster:
        leader = cluster.settled()
        other = 3 - leader
        cluster.admin(other)("stand", partition="t-0")
        eventually_true(lambda: cluster.leader() == other)
        refused = cluster.admin(other).ask({"do": "elect", "partition": "t-0", "how": "preferred"})
        assert "only the controller holds elections" in refused["error"]
        refused = cluster.admin(other).ask({"do": "retention", "partition": "t-0", "batches": 1})
        assert "nothing is deleted" in refused["error"]


def test_members_change_when_an_operator_asks_the_leader(local_cluster, eventually_true):
    cluster = ClusterSpec(brokers=4, replication_factor=3, settings=QUICK.settings)
    with local_cluster("raft+membership-change", cluster) as cluster:
        leader = cluster.settled()
        assert cluster.produce([1, 2]).error_code.name == "none"
        gone = next(broker for broker in (1, 2, 3) if broker != leader)
        wanted = [*(broker for broker in (1, 2, 3) if broker != gone), 4]
        cluster.admin(leader)("reassign", partition="t-0", replicas=wanted)

        def has_changed():
            said = cluster.status(4, "t-0")
            return set(said["settled"]) == set(wanted) and said["role"] == "follower"

        eventually_true(has_changed)
        assert cluster.produce([3]).error_code.name == "none"
        told = [entry[4:] for entry in cluster.trace(leader, "members")]
        assert [sorted(members) for members, *_, committed in told if committed][-1] == sorted(wanted)
        assert read(cluster, leader)[0] < 0  # its first entry
        refused = cluster.admin(leader).ask({"do": "reassign", "partition": "t-0", "replicas": [9]})
        assert "brokers of the cluster" in refused["error"]
