"""What coordinators promise on Kafka's brokers: transactions, of which a late commit ends the next, and offsets of groups."""

from pathlib import Path

import pytest

from tidemark.checkers.history.trace_events import CoordinatorLog
from tidemark.harness.live.session import ContainerSession
from tidemark.harness.systems.registry import find_system
from tidemark.nemesis import Fault, Plan, WorkloadSpec, read_plan
from tidemark.nodes.core.cluster import ClusterSpec

pytestmark = [pytest.mark.docker, pytest.mark.kafka, pytest.mark.slow, pytest.mark.systems]

S = 1_000_000
LATE_COMMIT = Path(__file__).parents[4] / "docs" / "findings" / "late-commit.plan.json"


@pytest.fixture
def executed(kafka_image, tmp_path):
    def executed(plan, clients="confluent"):
        kafka_image("4.3.1")
        system = find_system("kafka:4.3.1")
        plan = plan.scaled(system.time_scale)
        with ContainerSession(3, clients=clients, system=system, tell=lambda _: None) as session:
            return session.execute(plan, system.variant(system.default_variant), folder=tmp_path)

    return executed


def violations(run):
    return {anomaly.name for anomaly in run.verdict.anomalies if anomaly.verdict == "violation"}


def test_with_the_first_protocol_a_late_commit_ends_the_next_transaction(executed):
    assert violations(executed(read_plan(LATE_COMMIT))) == {"G1a"}


def test_with_the_second_it_does_not(executed, program):
    program("javac")
    run = executed(read_plan(LATE_COMMIT), "java")

    assert (run.verdict.valid, run.verdict.unknown_because) == ("valid", None)
    outcomes = [op.type for op in run.history.ops if op.f == "txn"]
    assert outcomes.count("ok") > 100
    assert outcomes.count("invoke") * 2 == len(outcomes)


def test_what_a_group_has_committed_outlasts_its_coordinator(executed):
    faults = (Fault("isolate", S, 2 * S, target="b1"), Fault("crash", 4 * S, S, target="b2"))
    plan = Plan(0, 0, 1, "by hand", ClusterSpec(), WorkloadSpec(4, 1, 100_000), faults, 6 * S)
    run = executed(plan.with_workload("group-offsets"))

    assert (run.verdict.valid, run.verdict.unknown_because) == ("valid", None)
    done = [op for op in run.history.ops if op.type == "ok"]
    committed = [op.value[0] for op in done if op.f == "write"]
    assert len(committed) > 100
    assert all(op.value[1] for op in done if op.f == "read" and op.value[0] in committed)
    assert run.history.meta["contract"] == "durable"
    logs = list(CoordinatorLog.among(run.history.trace))
    assert {log.node for log in logs} == {1, 2, 3}
    assert all({op.value for op in done if op.f == "write"} <= {commit[1:] for commit in log.commits} for log in logs)
