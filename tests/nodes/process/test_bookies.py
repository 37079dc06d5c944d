"""BookKeeper's nodes and metadata store as processes on loopback: they write, recover ledgers, and keep what a journal holds."""

import shutil

from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.settings import Settings
from tidemark.nodes.formats.journal import ENTRY, decode
from tidemark.nodes.formats.segment import scan

QUICK = ClusterSpec(settings=Settings(session_us=800_000, heartbeat_us=100_000, request_timeout_us=400_000))


def journal(cluster, broker):
    """The records of a bookie's journal, read from its durable file."""
    (path,) = (cluster.folder(broker) / "data" / "journal.t-0").glob("*.log")
    raw = path.read_bytes()
    return [decode(found.raw) for found in scan(lambda at, size: raw[at : at + size], len(raw))]


def logs(cluster):
    return [cluster.admin(broker)("log", partition="t-0", values=True)["batches"] for broker in cluster.brokers]


def test_a_ledger_is_recovered_by_whoever_takes_over(local_cluster, eventually_true):
    with local_cluster("bookkeeper", QUICK) as cluster:
        first = cluster.settled()
        assert cluster.produce([1, 2, 3]).error_code.name == "none"
        assert cluster.produce([4]).error_code.name == "none"
        cluster.kill(first)
        second = eventually_true(lambda: cluster.leader() not in (-1, first) and cluster.leader())
        assert cluster.produce([5]).error_code.name == "none"
        cluster.start(first)
        eventually_true(lambda: all(log == logs(cluster)[0] for log in logs(cluster)) and cluster.settled())
        assert [(base, values) for base, _, values in logs(cluster)[0]] == [(0, [1, 2, 3]), (3, [4]), (4, [5])]
        assert cluster.status(second, "t-0")["leader_epoch"] > 1
        stored = [entry for broker in cluster.brokers for entry in journal(cluster, broker) if entry[0] == ENTRY]
        held = [list(entry[5]) for entry in stored]
        assert all(held.count(values) >= 2 for values in ([1, 2, 3], [4], [5]))
        told = sum(len(cluster.trace(broker, "stored")) for broker in cluster.brokers)
        assert told == len(stored)
        for node in (*cluster.brokers, 0):
            assert cluster.terminate(node) == 0, (cluster.folder(node) / "log").read_text()


def test_a_bookie_that_comes_back_has_its_cookie_and_fences_and_an_empty_one_is_in_limbo(
    local_cluster, eventually_true
):
    with local_cluster("bookkeeper", QUICK) as cluster:
        first = cluster.settled()
        cluster.produce([1])
        other = next(broker for broker in cluster.brokers if broker != first)
        cluster.admin(other)("stand", partition="t-0")
        eventually_true(lambda: cluster.leader() == other)
        cluster.settled()
        before = journal(cluster, first)
        assert before[0] == ("cookie", 0)
        assert ("fence", 1) in [record for broker in cluster.brokers for record in journal(cluster, broker)]
        cluster.kill(first)
        cluster.start(first)
        eventually_true(cluster.settled)
        assert journal(cluster, first)[: len(before)] == before
        cluster.kill(first)
        for disk in ("data", "volatile"):
            shutil.rmtree(cluster.folder(first) / disk)
        cluster.start(first)
        eventually_true(lambda: cluster.settled() and journal(cluster, first)[:1])
        assert journal(cluster, first)[0][1] >= 2  # of the ledgers there were it does not know what it had


def test_while_the_store_fails_nobody_takes_over(local_cluster, eventually_true):
    with local_cluster("bookkeeper", QUICK) as cluster:
        first = cluster.settled()
        cluster.admin(0)("controller", there=False)
        cluster.admin(next(b for b in cluster.brokers if b != first))("stand", partition="t-0")
        assert cluster.produce([1]).error_code.name == "none"
        assert cluster.leader() == first
        cluster.admin(0)("controller", there=True)
        other = next(b for b in cluster.brokers if b != first)
        cluster.admin(other)("stand", partition="t-0")
        eventually_true(lambda: cluster.leader() == other)
        refused = cluster.admin(0).ask({"do": "log", "partition": "t-0"})
        assert "no log" in refused["error"]
