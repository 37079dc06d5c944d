"""Replicas move in simulated runs; what would lose records by it is found, and what does not is left alone."""

import pytest

from tidemark.harness.runs.at_rest import restored, waiting_for
from tidemark.harness.simulator import simulate
from tidemark.harness.simulator.at_rest import view_of
from tidemark.harness.simulator.disk import SimDisk
from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import Fault, generate_plan
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.controller import KRaftController, ZooKeeperController
from tidemark.nodes.core.log import Batch
from tidemark.nodes.core.settings import Settings
from tidemark.nodes.core.variant import PRESETS, parse_variant

T = "t-0"
SECOND = 1_000_000
FOUR = ClusterSpec(brokers=4)


def move(at_us, target="leader", pick=0):
    return Fault("reassignment", at_us, target=target, pick=pick)


def events(run, name):
    return [event for event in run.history.trace if event[2] == name]


@pytest.mark.parametrize("variant", list(PRESETS))
def test_a_leader_moves_and_nothing_is_lost(plan, variant):
    run = execute(plan(move(2 * SECOND), cluster=FOUR), variant)

    assert run.verdict.valid == "valid", run.verdict.anomalies
    assert [event[4:] for event in events(run, "reassign")] == [((4, 2, 3, 1), (4,), (1,)), ((4, 2, 3), (), ())]
    assert [event[1] for event in events(run, "removed")] == [1]
    assert sorted(event[1] for event in events(run, "final")) == [2, 3, 4]
    assert events(run, "restored")
    assert run.history.nemesis[0][2:] == (
        0,
        "reassignment",
        {"node": 1, "role": "leader", "partition": T, "replicas": [4, 2, 3]},
    )


def test_the_new_replica_has_every_record_and_leads(plan):
    run = execute(plan(move(2 * SECOND), cluster=FOUR), "kafka-4.0")
    ends = {event[1]: event[6] for event in events(run, "final")}

    assert len(set(ends.values())) == 1
    assert ends[4] > 10
    assert events(run, "elect")[-1][4] == 4


def test_its_disk_has_nothing_of_the_partition_any_more(simulation):
    w = simulation("kafka-3.7", brokers=4)
    w.reassign(T, (2, 3, 4))
    w.run_until(3 * SECOND)

    assert [T in w.nodes[broker].disk.files for broker in (1, 2)] == [False, True]
    assert [T in w.nodes[broker].disk.high_watermarks for broker in (1, 2, 3, 4)] == [False, True, True, True]


def test_a_deleted_log_leaves_no_file():
    disk = SimDisk()
    disk.append(0, T, Batch(0, 0, (7,)))
    disk.append(0, "t-1", Batch(0, 0, (8,)))
    disk.delete(T)
    disk.delete("t-2")

    assert list(disk.files) == ["t-1"]


def test_the_same_plan_gives_the_same_bytes():
    one = generate_plan(1, 3, "reassignments", ClusterSpec())

    for name in ("kafka-2.1", "kafka-4.0"):
        variant = parse_variant(name)
        assert simulate(one, variant).digest == simulate(one, variant).digest


# At rest


def test_it_is_over_when_the_new_replicas_are_in_sync(simulation):
    w = simulation("kafka-3.7", brokers=4)
    w.set_link_fault(0, ((1, 4), (4, 1)), "cut", 0)
    w.reassign(T, (1, 2, 4))
    w.run_until(2 * SECOND)
    assert w.replicas_of(T) == (1, 2, 4, 3)
    assert w.target_of(T) == (1, 2, 4)
    assert not restored(view_of(w, T))
    assert "ISR is [1, 2, 3]" in waiting_for(view_of(w, T))

    w.clear_link_fault(0)
    w.run_until(5 * SECOND)
    assert w.replicas_of(T) == w.target_of(T) == (1, 2, 4)
    assert restored(view_of(w, T))
    assert waiting_for(view_of(w, T)) == ""


def test_who_was_removed_is_not_waited_for(simulation):
    w = simulation("kafka-3.7", brokers=4)
    w.reassign(T, (1, 2, 4))
    w.run_until(3 * SECOND)
    w.stop(3, "crash")

    assert waiting_for(view_of(w, T)) == ""


def test_one_that_never_ends_is_told(simulation):
    """As up to 3.7, where it is taken back by naming the old replicas."""
    w = simulation("kafka-3.7", brokers=4)
    w.set_link_fault(0, ((1, 4), (4, 1)), "cut", 0)
    w.reassign(T, (1, 2, 4))
    w.run_until(2 * SECOND)
    w.reassign(T, (1, 2, 3))
    w.clear_link_fault(0)
    w.run_until(6 * SECOND)

    assert waiting_for(view_of(w, T)) == "replicas [1, 2, 3, 4] are still being reassigned to [1, 2, 3]"


# What was left behind


def test_with_zookeeper_a_log_that_nobody_asked_to_delete_is_what_its_replica_goes_on_with(plan):
    faults = (
        Fault("crash", 2 * SECOND, 2 * SECOND, "b3"),
        move(3 * SECOND, "b3", pick=1),
        move(5 * SECOND, "b4", pick=1),
    )
    run = execute(plan(*faults, end=8 * SECOND, cluster=FOUR), "kafka-2.7")
    (recovered,) = [event for event in events(run, "recovered") if event[0] > SECOND]

    assert run.verdict.valid == "valid", run.verdict.anomalies
    assert [event[1] for event in events(run, "removed")] == [4]
    assert recovered[4] > 0
    assert [event[6] for event in events(run, "follow") if event[1] == 3][-1] >= recovered[4]


def test_with_kraft_it_is_deleted_when_the_broker_is_back(plan):
    faults = (Fault("crash", 2 * SECOND, 2 * SECOND, "b3"), move(3 * SECOND, "b3", pick=1))
    run = execute(plan(*faults, end=8 * SECOND, cluster=FOUR), "kafka-3.7")
    (removed,) = events(run, "removed")

    assert run.verdict.valid == "valid", run.verdict.anomalies
    assert removed[1] == 3
    assert removed[0] > 4 * SECOND


def test_a_disk_that_is_lost_takes_such_a_log_with_it(plan):
    faults = (
        Fault("crash", 2 * SECOND, 2 * SECOND, "b3"),
        move(3 * SECOND, "b3", pick=1),
        Fault("disk", 5 * SECOND, SECOND // 2, "b3"),
        move(6 * SECOND, "b4", pick=1),
    )
    run = execute(plan(*faults, end=8 * SECOND, cluster=FOUR), "kafka-2.7")

    assert run.verdict.valid == "valid", run.verdict.anomalies
    assert [event[4] for event in events(run, "recovered") if event[1] == 3][-1] == 0


# Bugs


def test_one_that_ends_before_the_new_replica_has_caught_up_loses_records(plan, monkeypatch):
    """It counts whoever is to be a replica as in sync; the empty one leads."""
    one = plan(move(2 * SECOND), cluster=FOUR)

    def too_early(self, partition, isr):
        return partition.target() if partition.is_reassigned else ()

    monkeypatch.setattr(KRaftController, "_isr_at_end", too_early)
    run = execute(one, "kafka-4.0")
    names = {anomaly.name for anomaly in run.verdict.anomalies if anomaly.verdict == "violation"}

    assert run.verdict.valid == "invalid"
    assert {"lost-committed-write", "leader-completeness"} <= names


def test_one_that_leaves_nobody_who_was_in_sync_loses_records(plan, monkeypatch):
    """With ZooKeeper: it does not wait, and all old replicas go."""
    one = plan(move(2 * SECOND), cluster=ClusterSpec(brokers=2, replication_factor=1, settings=Settings(min_isr=1)))
    monkeypatch.setattr(ZooKeeperController, "_all_in_sync", lambda self, partition: True)
    run = execute(one, "kafka-2.7")

    assert "lost-committed-write" in {a.name for a in run.verdict.anomalies if a.verdict == "violation"}


@pytest.mark.parametrize("variant", list(PRESETS))
def test_one_replica_on_two_brokers_moves_without_loss(plan, variant):
    cluster = ClusterSpec(brokers=2, replication_factor=1, settings=Settings(min_isr=1))
    run = execute(plan(move(2 * SECOND), cluster=cluster), variant)

    assert run.verdict.valid == "valid", run.verdict.anomalies
    assert [event[1] for event in events(run, "final")] == [2]


KAFKA_14424 = (
    Fault("from-peers", 1_000_000, 6_000_000, "b2"),
    Fault("from-peers", 1_000_000, 6_000_000, "b3"),
    move(3_500_000, "b3", pick=0),
    Fault("forced-election", 4_000_000, target="b4"),
    Fault("crash", 4_200_000, 3_000_000, "b1"),
    move(6_000_000, "b4", pick=0),
)
"""Brokers 2 and 3 lag, 4 comes in place of 3 and leads; 1 crashes, and 4 is to go again."""


@pytest.mark.parametrize(("variant", "valid"), [("kafka-2.7", "invalid"), ("kafka-4.0", "valid")])
def test_taking_one_back_can_delete_the_only_copy_with_zookeeper(plan, variant, valid):
    """KAFKA-14424."""
    run = execute(plan(*KAFKA_14424, end=8 * SECOND, cluster=FOUR), variant)
    names = {anomaly.name for anomaly in run.verdict.anomalies if anomaly.verdict == "violation"}

    assert run.verdict.valid == valid, run.verdict.anomalies
    assert ("lost-committed-write" in names) == (valid == "invalid")


def test_kafka_15665_leaves_the_records_with_fewer_replicas(plan):
    """Up to 3.7: then one disk is enough to lose what two replicas had acknowledged."""
    faults = (
        Fault("from-peers", 1_000_000, 4_000_000, "b2"),
        Fault("from-peers", 1_000_000, 4_000_000, "b3"),
        move(3_500_000, "b1", pick=0),
        Fault("disk", 4_500_000, SECOND, "b4"),
    )
    one = plan(*faults, end=8 * SECOND, cluster=FOUR)
    assert execute(one, "kafka-3.7+whole-target", "durable").verdict.valid == "valid"

    run = execute(one, "kafka-3.7", "durable")
    (loss, *_) = [a for a in run.verdict.anomalies if a.name == "lost-committed-write"]
    assert loss.verdict == "violation"
    assert loss.breaks == ("kip-966", "durable")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "first", "last"),
    [
        ("kafka-4.0", 0, 60),
        pytest.param("kafka-4.0", 60, 200, marks=pytest.mark.systems),
        pytest.param("kafka-2.1", 0, 200, marks=pytest.mark.systems),
    ],
)
def test_two_hundred_random_plans_are_sound(variant, first, last):
    for index in range(first, last):
        run = execute(generate_plan(1, index, "reassignments", ClusterSpec()), variant)
        assert run.verdict.valid != "invalid", (index, run.verdict.anomalies)
