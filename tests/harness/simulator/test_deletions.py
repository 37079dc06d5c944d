"""Records are deleted in simulated runs: by clients, by retention, on disks."""

from random import Random

import pytest

from tidemark.harness.simulator import simulate
from tidemark.harness.simulator.disk import SimDisk
from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import Fault, Trigger, WorkloadSpec, generate_plan
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.log import Batch
from tidemark.nodes.core.recovery import recover
from tidemark.nodes.core.variant import PRESETS, parse_variant

T = "t-0"
MS = 1_000
SECOND = 1_000 * MS


def events(run, name):
    return [event for event in run.history.trace if event[2] == name]


def deletions(run):
    """(process, how it ended) of every request."""
    return [(op.process, op.type, op.value, op.error) for op in run.history.ops if op.f == "delete"]


def test_a_client_deletes_and_all_replicas_follow(plan):
    run = execute(plan(Fault("delete-records", 2 * SECOND, amount=1000)), "kafka-2.7")
    starts = events(run, "log-start")

    assert [(event[1], event[6]) for event in starts] == [
        (1, "delete-records"),
        *sorted((event[1], "leader") for event in starts[1:]),
    ]
    (offset,) = {event[4] for event in starts}
    assert deletions(run) == [
        ("d1", "invoke", (("delete", T, offset),), None),
        ("d1", "ok", (("delete", T, offset),), None),
    ]
    assert run.history.nemesis[0][2:] == (
        0,
        "delete-records",
        {"node": 1, "role": "leader", "partition": T, "amount": 1000},
    )
    assert run.verdict.valid == "unknown"  # nobody was elected
    assert run.verdict.anomalies == ()


def test_so_much_of_what_is_committed_goes_as_was_asked_for(plan):
    run = execute(plan(Fault("delete-records", 3 * SECOND, amount=500)), "kafka-2.7")
    hw = [event[4] for event in events(run, "hw") if event[1] == 1 and event[0] <= 3 * SECOND][-1]

    assert {event[4] for event in events(run, "log-start")} == {hw // 2}


def test_the_final_reader_begins_at_the_log_start(plan):
    run = execute(plan(Fault("delete-records", 2 * SECOND, amount=1000)), "kafka-2.7")
    (start,) = {event[4] for event in events(run, "log-start")}
    read = [
        record
        for op in run.history.ops
        if op.final and op.type == "ok" and op.f == "poll"
        for record in op.value[0][1][T]
    ]

    assert read[0][0] == start


def test_without_kip_107_the_client_is_told_so(plan):
    run = execute(plan(Fault("delete-records", 2 * SECOND, amount=1000)), "kafka-0.10")

    assert [how for _, how, *_ in deletions(run)] == ["invoke", "fail"]
    assert events(run, "log-start") == []


def test_nobody_is_asked_while_there_is_no_leader(plan):
    run = execute(
        plan(Fault("crash-all", SECOND, 2 * SECOND), Fault("delete-records", 2 * SECOND, amount=1000)), "kafka-2.7"
    )

    assert deletions(run) == []


def test_a_request_that_is_lost_ends_with_an_unknown_outcome(plan):
    lost = Fault("isolate", 2 * SECOND, SECOND, "leader", clients=True)
    run = execute(plan(lost, Fault("delete-records", 2 * SECOND + 1, amount=1000)), "kafka-2.7")

    assert [(how, error) for _, how, _, error in deletions(run)] == [("invoke", None), ("info", "REQUEST_TIMED_OUT")]


@pytest.mark.parametrize("variant", ["kafka-0.10", "kafka-2.7"])
def test_retention_is_each_brokers_own(plan, variant):
    run = execute(plan(Fault("retention", 2 * SECOND, target="b3", amount=1000)), variant)

    assert [(event[1], event[6]) for event in events(run, "log-start")] == [(3, "retention")]
    assert events(run, "log-start")[0][4] > 0
    assert run.verdict.anomalies == ()


def test_retention_of_a_broker_that_is_down_deletes_nothing(plan):
    run = execute(
        plan(
            Fault("crash", SECOND, 2 * SECOND, "b3"),
            Fault("retention", 2 * SECOND, target="b3", amount=1000),
        ),
        "kafka-2.7",
    )

    assert events(run, "log-start") == []


def test_a_fault_may_wait_for_a_log_start_to_move(plan):
    run = execute(
        plan(
            Fault("delete-records", 2 * SECOND, amount=1000),
            Fault("forced-election", SECOND, target="b2", after=Trigger("log-start", 2)),
        ),
        "kafka-2.7",
    )

    assert [event[1] for event in events(run, "lead")] == [1, 2]
    assert run.verdict.valid == "valid"


BEHIND = (
    Fault("isolate", SECOND, 3 * SECOND, "b3"),
    Fault("delete-records", 3_500 * MS, amount=1000),
)


@pytest.mark.parametrize("variant", list(PRESETS))
def test_a_broker_that_comes_back_behind_the_log_start_begins_anew(plan, variant):
    """The workload writes batches of ten records; the log start is a high watermark, and so the end of a batch."""
    run = execute(plan(*BEHIND, end=5 * SECOND, work=WorkloadSpec(2, 1, 60_000, 250_000, 10)), variant)

    assert [event[1] for event in events(run, "log-start") if event[6] == "begin-anew"] == (
        [] if variant == "kafka-0.10" else [3]
    )
    assert [anomaly for anomaly in run.verdict.anomalies if anomaly.verdict == "violation"] == []
    finals = events(run, "final")
    assert len(finals) == 3
    assert len({event[6] for event in finals}) == 1


@pytest.mark.parametrize("variant", ["kafka-0.11", "kafka-2.1", "kafka-4.0"])
def test_a_log_start_inside_a_batch_is_no_trouble(plan, variant):
    """KAFKA-6975; among so many deletions some fall inside a batch."""
    half = [replace_amount(BEHIND[1], amount) for amount in (777, 501)]
    for deletion in half:
        run = execute(plan(BEHIND[0], deletion, end=5 * SECOND, work=WorkloadSpec(2, 1, 60_000, 250_000, 10)), variant)
        assert [anomaly for anomaly in run.verdict.anomalies if anomaly.verdict == "violation"] == []


def replace_amount(fault, amount):
    return Fault(fault.kind, fault.at_us, amount=amount)


@pytest.mark.parametrize(
    ("variant", "index", "holes"),
    [
        pytest.param("kafka-4.0", 235, 2, id="cut inside a batch, to the leader's log start"),
        pytest.param("kafka-2.7", 1297, 0, id="a recovery makes up for epochs, and a later log start is forgotten"),
    ],
)
def test_what_deletions_do_to_a_log_is_no_violation(variant, index, holes):
    run = execute(generate_plan(11, index, "retention-destructive", ClusterSpec()), variant)

    assert [one.message for one in run.verdict.anomalies if one.verdict == "violation"] == []
    assert len(events(run, "hole")) == holes


def test_the_same_run_gives_the_same_bytes(plan):
    story = plan(*BEHIND, Fault("retention", 2 * SECOND, target="any", pick=1, amount=300), end=5 * SECOND)

    assert len({simulate(story, parse_variant("kafka-3.7")).digest for _ in range(2)}) == 1


# Disks


def disk_of(*sizes):
    disk = SimDisk()
    base = 0
    for size in sizes:
        disk.append(0, T, Batch(base, 0, (7,) * size))
        base += size
    return disk


def loaded(disk, **kwargs):
    found = recover(disk.load(), **kwargs).partitions[T]
    return found.start, found.leo, [batch.base for batch in found.batches]


def test_dropped_batches_stay_dropped():
    disk = disk_of(2, 3, 1)
    disk.drop_before(T, 5)

    assert loaded(disk) == (5, 6, [5])


def test_an_emptied_log_ends_where_it_did():
    disk = disk_of(2, 3)
    disk.drop_before(T, 5)

    assert loaded(disk) == (5, 5, [])


def test_a_log_that_began_anew_is_found_so():
    disk = disk_of(2)
    disk.begin_at(T, 9)
    disk.append(1, T, Batch(9, 1, (8, 8)))

    assert loaded(disk) == (9, 11, [9])


def test_after_a_cut_to_nothing_the_log_ends_at_the_cut():
    disk = disk_of(2, 3)
    disk.drop_before(T, 2)
    disk.truncate(T, 1)

    assert loaded(disk) == (1, 1, [])


@pytest.mark.parametrize("seed", range(10))
def test_a_power_loss_cannot_take_a_dropped_batch_for_a_synced_one(seed):
    """Two were synced, one of them is dropped; of the other two any prefix stays."""
    disk = disk_of(2, 3)
    disk.sync(T)
    disk.append(0, T, Batch(5, 0, (7,)))
    disk.append(0, T, Batch(6, 0, (7,)))
    disk.drop_before(T, 2)
    disk.lose_power(1, Random(seed))

    start, leo, bases = loaded(disk)
    assert start == 2
    assert leo >= 5
    assert bases[0] == 2


def test_a_log_shorter_than_its_checkpointed_start_is_dropped_for_good():
    """KAFKA-8306: what is written next lies behind the log start, also after another crash."""
    disk = disk_of(2, 3)
    disk.log_starts = {T: 5}
    disk.truncate(T, 2)
    found = recover(disk.load()).partitions[T]
    disk.recover(T, found)
    disk.append(1, T, Batch(5, 1, (8,)))

    assert loaded(disk) == (5, 6, [5])


def test_a_log_of_which_nothing_is_left_begins_at_its_checkpointed_start():
    """KAFKA-8306: it begins there from now on, so a process that comes next needs no checkpoint to know it."""
    disk = disk_of(2)
    disk.log_starts = {T: 2}
    disk.truncate(T, 0)
    disk.recover(T, recover(disk.load()).partitions[T])
    disk.log_starts = {}

    assert loaded(disk) == (2, 2, [])


def test_a_lost_disk_has_no_log_start():
    disk = disk_of(2)
    disk.log_starts = {T: 2}
    disk.wipe()
    disk.file(T)

    assert loaded(disk) == (0, 0, [])
