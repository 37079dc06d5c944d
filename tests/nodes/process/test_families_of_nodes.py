"""The families without a controller as processes on loopback: they elect, replicate, survive kill -9, and keep their votes."""

import json
import signal

import pytest

from nodes.core.cluster import ClusterSpec
from nodes.core.settings import Settings

QUICK = ClusterSpec(settings=Settings(session_us=600_000, heartbeat_us=100_000))


@pytest.mark.parametrize("variant", ["raft", "quorum-hwm+repaired", "reconciliation+own-generation"])
def test_elects_replicates_and_recovers(local_cluster, eventually_true, variant):
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
        assert [count for _, _, count in logs[0]].count(3) == 1
        for node in cluster.brokers:
            assert cluster.terminate(node) == 0, (cluster.folder(node) / "log").read_text()
            vote = json.loads((cluster.folder(node) / "data" / "t-0" / "quorum-state").read_text())
            told = cluster.trace(node, "vote")
            assert (vote["leaderEpoch"], vote["votedId"]) == tuple(told[-1][4:6]) or vote["votedId"] == -1


def test_stands_for_election_when_asked_and_loses_without_votes(local_cluster, eventually_true):
    with local_cluster("raft", QUICK) as cluster:
        leader = cluster.settled()
        other = next(broker for broker in cluster.brokers if broker != leader)
        cluster.admin(other)("stand", partition="t-0")
        eventually_true(lambda: cluster.leader() == other)
        for node in cluster.brokers:
            if node != other:
                cluster.signal(node, signal.SIGSTOP)
        generation = cluster.status(other, "t-0")["leader_epoch"]
        refused = cluster.admin(other).ask({"do": "elect", "partition": "t-0", "how": "preferred"})
        assert refused["error"] == "only the controller holds elections"
        assert cluster.status(other, "t-0")["leader_epoch"] == generation
        assert (
            cluster.admin(other)
            .ask({"do": "retention", "partition": "t-0", "batches": 1})["error"]
            .startswith("there is no")
        )


def test_a_follower_answers_consumers_only_where_the_family_lets_it(local_cluster):
    for variant, answers in (("raft", False), ("quorum-hwm", True)):
        with local_cluster(variant, QUICK) as cluster:
            leader = cluster.settled()
            cluster.produce([7])
            cluster.settled()
            follower = next(broker for broker in cluster.brokers if broker != leader)
            assert cluster.reads(follower) == ([7] if answers else None)
