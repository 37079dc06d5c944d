"""A whole cluster on loopback: it elects, replicates, survives kill -9, and shuts down cleanly, in every generation."""

import pytest

from tidemark.nodes.core.variant import PRESETS

QUICK = ("kafka-0.10", "kafka-4.0")
"""The first and the last; each cluster is four processes, and the presets between differ by what the core's tests look at."""


@pytest.mark.parametrize(
    "variant",
    [pytest.param(name, marks=() if name in QUICK else [pytest.mark.slow, pytest.mark.systems]) for name in PRESETS],
)
def test_replicates_and_recovers(local_cluster, eventually_true, variant):
    with local_cluster(variant) as cluster:
        leader = cluster.settled()
        first = cluster.produce([1, 2, 3])
        assert (first.error_code.name, first.base_offset) == ("none", 0)
        second = cluster.produce([4, 5])
        assert second.base_offset == 3
        cluster.settled()
        epoch = cluster.status(leader, "t-0")["leader_epoch"]
        for broker in cluster.brokers:
            assert cluster.admin(broker)("log", partition="t-0")["batches"] == [[0, epoch, 3], [3, epoch, 2]]
        follower = next(b for b in cluster.brokers if b != leader)
        cluster.kill(follower)
        cluster.start(follower)
        cluster.settled()
        assert cluster.status(follower, "t-0")["leo"] == 5
        assert [entry[3:] for entry in cluster.trace(follower, "recovered")][-1][:2] == ["t-0", 5]
        assert cluster.produce([6]).base_offset == 5
        cluster.settled()
        for node in cluster.brokers:
            assert cluster.terminate(node) == 0, (cluster.folder(node) / "log").read_text()
            assert cluster.trace(node)[-1][2:] == ["stop", "", "clean"]
        assert cluster.terminate(0) == 0
        assert (cluster.folder(follower) / "data" / ".kafka_cleanshutdown").exists()
