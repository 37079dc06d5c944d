"""Whole runs in containers: what was planned happens, is recorded, and leaves nothing behind."""

import secrets

import pytest

from tidemark.checkers import check, read_history
from tidemark.harness.evidence.run_error import RunError
from tidemark.harness.live import verify_healed
from tidemark.harness.live.contained_run import run_plan
from tidemark.harness.live.progress import RunProgress
from tidemark.harness.machines import firewall
from tidemark.harness.machines.cluster import ContainerCluster
from tidemark.harness.machines.errors import NodeError
from tidemark.harness.machines.node_control import NodeControl
from tidemark.nemesis import Fault, Plan, Trigger, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.variant import parse_variant

pytestmark = [pytest.mark.docker, pytest.mark.slow]

S = 1_000_000
WORK = WorkloadSpec(producers=2, consumers=1, interval_us=50_000, poll_us=100_000, batch=3)


@pytest.fixture(scope="module")
def three(engine, image):
    """A controller and three brokers, for all runs of this module one after the other."""
    with ContainerCluster.up(3, run_id=f"test-{secrets.token_hex(4)}", image=image, client=engine) as cluster:
        yield cluster


def plan(*faults, end=3 * S, cluster=None):
    return Plan(0, 0, 1, "by hand", cluster or ClusterSpec(), WORK, faults, end)


def told(history, *events):
    return [(event[1], event[2], *event[4:]) for event in history.trace if event[2] in events]


def left_on(cluster):
    """What acts on the machines of a cluster when nothing should."""
    found = []
    for machine in cluster.machines.values():
        control = NodeControl(machine)
        found += firewall.leftovers(control.run("iptables -S"))
        found += [control.state()] if control.running() else []
        found += control.run(f"ls -A {control.places.volatile} | grep ballast || :").split()
        found += [clock for clock in control.run(f"cat {control.places.faketime}").split() if clock != "+0"]
    return found


def test_a_quiet_run_ends_with_equal_logs(three, tmp_path):
    progress = RunProgress()
    elects = plan(Fault("forced-election", S, target="follower"))
    run = run_plan(elects, parse_variant("kafka-2.7"), cluster=three, progress=progress, folder=tmp_path)
    history = run.history

    assert check(history).valid == "valid"
    assert (history.meta["world"], history.meta["clients"], history.meta["died"]) == ("docker", "confluent", [])
    assert history.meta["read_back"] is True
    assert told(history, "converged") == [(0, "converged", True, "")]
    finals = [event for event in history.trace if event[2] == "final"]
    assert [event[4] for event in finals].count("leader") == 1
    assert len({event[9] for event in finals}) == 1
    assert sum(len(batch[2]) for batch in finals[0][9]) == finals[0][6] > 0
    assert {op.type for op in history.ops if op.final} == {"invoke", "ok"}
    assert read_history(tmp_path / "history.jsonl") == history
    assert sorted(path.name for path in (tmp_path / "nodes").iterdir()) == [
        "b1.tar.gz",
        "b2.tar.gz",
        "b3.tar.gz",
        "controller.tar.gz",
    ]
    assert left_on(three) == []


def test_machines_fail_and_come_back(three, tmp_path):
    """Each kind of fault that only a real machine has, and each way for a process to end, in one run of six seconds."""
    faults = (
        Fault("container-kill", S // 2, S, "b2"),
        Fault("disconnect", S, S // 2, "b1"),
        Fault("disk-full", 2 * S, S, "b3"),
        Fault("slow-disk", 5 * S // 2, S // 2, "b2", amount=20_000),
        Fault("clock-jump", 3 * S, 2 * S, "b1", amount=60 * S),
        Fault("power", 4 * S, S // 2, "b2"),
        Fault("restart", 9 * S // 2, S // 2, "b3"),
        Fault("pause", 9 * S // 2, S // 2, "b1"),
    )
    run = run_plan(plan(*faults, end=6 * S), parse_variant("kafka-2.7"), cluster=three, folder=tmp_path)
    history = run.history
    stops = told(history, "stop")

    assert check(history).valid == "valid"
    assert stops.count((2, "stop", "power")) == 2
    assert (3, "stop", "clean") in stops
    assert told(history, "pause", "resume") == [(1, "pause"), (1, "resume")]
    assert {entry[3] for entry in history.nemesis if entry[1] == "heal"} >= {fault.kind for fault in faults}
    assert told(history, "converged") == [(0, "converged", True, "")]
    assert left_on(three) == []


def test_links_fail_and_come_back_and_events_are_heard(three):
    """The last fault waits for broker 2 to lead, which the fast failover is likely to bring about."""
    faults = (
        Fault("slow", S // 2, 2 * S, "b2", amount=50_000),
        Fault("lossy", S // 2, S, "b3", amount=200),
        Fault("isolate", S, S, "b1", clients=True),
        Fault("fast-failover", 2 * S, S // 2, "b2", pick=3, amount=20_000),
        Fault("late-leadership", 2 * S, S, "b3", amount=100_000),
        Fault("crash", 0, S // 2, "b2", after=Trigger("lead", 1, 2)),
    )
    run = run_plan(plan(*faults, end=4 * S), parse_variant("kafka-4.0"), cluster=three)
    history = run.history
    struck = {entry[3] for entry in history.nemesis if entry[1] == "strike"}

    assert check(history).valid == "valid"
    assert struck >= {"slow", "lossy", "isolate", "fast-failover", "late-leadership"}
    assert ("crash" in struck) == any(event[1:3] == (2, "lead") for event in history.trace)
    assert history.meta["delay"] in {"netem", "transport"}
    assert left_on(three) == []


def test_answers_of_leaders_are_kept_for_scenarios(three):
    run = run_plan(plan(Fault("forced-election", S, target="b2")), parse_variant("kafka-2.0"), cluster=three)

    assert {answer.follower for answer in run.answers} <= {1, 3}
    assert run.answers
    assert all(answer.partition == "t-0" for answer in run.answers)


def test_a_plan_that_is_too_large_is_refused(three):
    cluster = ClusterSpec(brokers=5)
    with pytest.raises(RunError, match="the plan wants 5 brokers and a controller; there are 4 machines"):
        run_plan(plan(cluster=cluster), parse_variant("kafka-2.7"), cluster=three)


def test_a_run_that_fails_leaves_its_evidence_and_a_clean_cluster(three, tmp_path, monkeypatch):
    def fail(cluster, within_s=0.0):
        raise RunError("it does not heal")

    monkeypatch.setattr(verify_healed, "verify", fail)
    faults = (Fault("isolate", S // 2, 9 * S, "b1"), Fault("pause", S // 2, 9 * S, "b2"))
    with pytest.raises(RunError, match="it does not heal"):
        run_plan(plan(*faults, end=S), parse_variant("kafka-2.7"), cluster=three, folder=tmp_path)

    assert read_history(tmp_path / "history.jsonl").nemesis[0][3] == "isolate"
    assert len(list((tmp_path / "nodes").iterdir())) == 4
    assert left_on(three) == []


def test_a_fault_that_cannot_be_applied_ends_the_run(three, monkeypatch):
    def refuse(control):
        raise NodeError(f"{control.name}: the disk cannot be filled")

    monkeypatch.setattr("tidemark.harness.machines.machine_faults.fill_disk", refuse)
    with pytest.raises(RunError, match="cannot put or clear 'disk-full' on b2: b2: the disk cannot be filled"):
        run_plan(plan(Fault("disk-full", S // 2, S, "b2")), parse_variant("kafka-2.7"), cluster=three)

    assert left_on(three) == []
