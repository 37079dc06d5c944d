"""The workload before real node processes on loopback, with a leader that is killed and one that is paused."""

import signal
import time

import pytest
from local_cluster import LocalCluster

from tidemark.checkers import History, check
from tidemark.harness.clients import LIBRARIES
from tidemark.harness.clients.kafka_workload import KafkaWorkload
from tidemark.nemesis.plan import WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec

PATIENCE_S = 20
ENOUGH = 4
"""So many records are committed before some of them are deleted."""


def work_under(local_cluster, library, acks, strike):
    """A run of a few seconds and a strike in the middle; its history without the replicas' trace, and what lies in the logs."""
    shape, ops = ClusterSpec(partitions=2, acks=acks), []
    with local_cluster(cluster=shape) as cluster:
        for key in shape.assignment():
            cluster.settled(key)
        began = time.monotonic_ns()

        def clock():
            return (time.monotonic_ns() - began) // 1000

        work = KafkaWorkload(
            cluster.bootstrap,
            shape,
            WorkloadSpec(),
            clock=clock,
            record=ops.append,
            noise_seed=1,
            library=library,
        )
        work.start()
        time.sleep(1)
        strike(cluster, cluster.leader("t-0"), work)
        time.sleep(1.5)
        work.stop()
        for key in shape.assignment():
            cluster.settled(key)
        assert work.final_read(clock() + 5_000_000)
        batches = {
            key: [
                (base, count) for base, _, count in cluster.admin(cluster.leader(key))("log", partition=key)["batches"]
            ]
            for key in shape.assignment()
        }
    meta = {"acks": acks, "read_back": True, "faults_end_us": 4_000_000, "end_us": clock()}
    return History(meta, ops), batches


def sends_of(history):
    """Partition, first offset and length of what every acknowledged send wrote.

    It is one batch, unless the machine was so busy that the records of a send were handed over in more than librdkafka's linger.
    """
    sends = [op.value for op in history.ops if op.f == "send" and op.type == "ok"]
    return {(value[0][1], value[0][2][0], len(value)) for value in sends}


def offsets(ranges):
    return {(key, offset) for key, base, count in ranges for offset in range(base, base + count)}


def inside(batch, send):
    return batch[0] == send[0] and send[1] <= batch[1] and batch[1] + batch[2] <= send[1] + send[2]


def kill_and_restart(cluster, leader, _work):
    cluster.kill(leader)
    time.sleep(1.5)
    cluster.start(leader)


def pause_and_resume(cluster, leader, _work):
    cluster.signal(leader, signal.SIGSTOP)
    time.sleep(2)
    cluster.signal(leader, signal.SIGCONT)


def nothing(cluster, leader, _work):
    pass


def delete(cluster, leader, work):
    until = time.monotonic() + PATIENCE_S
    while (hw := cluster.status(leader, "t-0")["hw"]) < ENOUGH:
        assert time.monotonic() < until, "nothing is committed"
        time.sleep(0.05)
    work.delete("t-0", hw // 2)
    work.delete("t-1", 1 << 40)


@pytest.mark.slow
@pytest.mark.parametrize("strike", [nothing, kill_and_restart, pause_and_resume])
@pytest.mark.parametrize("library", LIBRARIES)
def test_what_was_acknowledged_is_read_back(tmp_path, library, strike):
    history, batches = work_under(lambda **how: LocalCluster(tmp_path, **how), library, "all", strike)
    verdict = check(history)
    told = [one for one in verdict.anomalies if one.verdict != "informational"]
    assert (verdict.valid, told) == ("valid", [])
    assert verdict.stats["acked"] > 20
    if strike is nothing:
        assert verdict.stats["availability"] == 1.0
        sends, written = sends_of(history), {(key, *batch) for key, found in batches.items() for batch in found}
        assert offsets(sends) == offsets(written)
        assert all(any(inside(batch, send) for send in sends) for batch in written)
        assert len(sends & written) > 0.8 * len(sends)


@pytest.mark.slow
@pytest.mark.parametrize(("library", "refused"), [("confluent", "info"), ("aiokafka", "fail")])
def test_what_a_client_deleted_is_not_read_back_and_not_lost(tmp_path, library, refused):
    history, _ = work_under(lambda **how: LocalCluster(tmp_path, **how), library, "all", delete)
    verdict = check(history)
    told = [one for one in verdict.anomalies if one.verdict != "informational"]
    assert (verdict.valid, told) == ("valid", [])
    deletions = {op.process: op for op in history.ops if op.f == "delete" and op.type != "invoke"}
    done, impossible = deletions["d1"], deletions["d2"]
    ((_, _, offset),) = done.value
    assert (done.type, done.error) == ("ok", None)
    assert (impossible.type, impossible.error) == (refused, "OFFSET_OUT_OF_RANGE")
    read = [
        at
        for op in history.ops
        if op.final
        for part, found in op.value[0][1].items()
        if part == "t-0"
        for at, _ in found
    ]
    assert 0 < offset <= min(read) == read[0]
