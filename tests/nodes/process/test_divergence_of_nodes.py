"""A leader's unreplicated batch is cut when the leader returns, as each generation does it; and the trace tells it all.

Broker 1 leads first. Where brokers have rules of their own, no two speak the same versions of Fetch and OffsetForLeaderEpoch.
"""

import pytest

from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import Settings

QUICK = ClusterSpec(settings=Settings(session_us=2_500_000))


def replay(entries, partition="t-0"):
    """The log that a node's trace tells of: (base offset, leader epoch) of its batches."""
    batches = []
    for _, _, event, where, *fields in entries:
        if where != partition:
            continue
        if event == "append":
            batches.append((fields[0], fields[1]))
        elif event in {"truncate", "recovered"}:
            batches = [batch for batch in batches if batch[0] < fields[0]]
    return batches


@pytest.mark.parametrize(
    ("variant", "answer"),
    [
        ("kafka-0.10", None),
        pytest.param("kafka-0.11", ["t-0", 0, None, -1, 3], marks=pytest.mark.slow),
        pytest.param("kafka-2.1", ["t-0", 0, None, 0, 3], marks=[pytest.mark.slow, pytest.mark.systems]),
        ("kafka-3.7", ["t-0", 0, 4, 0, 3]),
        ("kafka-2.0+truncation@1=lineage+truncation@3=fetch", ["t-0", 0, None, 0, 3]),
    ],
)
def test_the_old_leaders_tail_goes(local_cluster, eventually_true, variant, answer):
    with local_cluster(variant, QUICK) as cluster:
        old = cluster.settled()
        cluster.produce([1, 2, 3])
        cluster.settled()
        eventually_true(lambda: cluster.status(old, "t-0")["checkpointed_hw"] == 3)
        cluster.admin(old)("transport", key=1, rules=[{"kind": "fetch responses", "effect": "hold"}])
        assert cluster.produce([4], acks=1).base_offset == 3
        assert cluster.status(old, "t-0")["leo"] == 4
        cluster.kill(old)
        new = eventually_true(lambda: cluster.leader() not in (old, -1) and cluster.leader())
        assert cluster.produce([5, 6]).base_offset == 3
        cluster.start(old)
        assert cluster.settled() == new
        assert cluster.trace(old, "truncate")[-1][4:6] == [3, 4]
        if answer is not None:
            assert answer in [entry[3:] for entry in cluster.trace(old, "answer")]
        for broker in cluster.brokers:
            log = cluster.admin(broker)("log", partition="t-0")["batches"]
            assert [(base, epoch) for base, epoch, _ in log] == replay(cluster.trace(broker)) == [(0, 0), (3, 1)]
