"""A quorum of three controllers on real brokers: the active one is deposed, and what it and the others decided is told as one."""

import pytest

from tidemark.checkers.history.trace_events import Controls, Elect, MetadataLog
from tidemark.harness.live.session import ContainerSession
from tidemark.harness.systems.registry import find_system
from tidemark.nemesis import Fault, Plan, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec

pytestmark = [pytest.mark.docker, pytest.mark.kafka, pytest.mark.slow, pytest.mark.systems]

S = 1_000_000


def test_controllers_are_deposed_and_no_decision_is_lost_or_told_twice(kafka_image, tmp_path):
    kafka_image("4.3.1")
    system = find_system("kafka:4.3.1@3-controllers")
    # Each voter is away for a while, so whoever is the active controller is deposed.
    faults = (
        Fault("pause", 5 * S, 2 * S, target="b1"),
        Fault("pause", 9 * S, 2 * S, target="b2"),
        Fault("controller-crash", 13 * S, S),
        Fault("preferred-election", 16 * S),
    )
    plan = Plan(0, 0, 1, "by hand", ClusterSpec(), WorkloadSpec(), faults, 18 * S).scaled(system.time_scale)
    with ContainerSession(3, clients="confluent", system=system, tell=lambda _: None) as session:
        run = session.execute(plan, system.variant(system.default_variant), folder=tmp_path)

    trace = run.history.trace
    assert (run.verdict.valid, run.verdict.unknown_because) == ("valid", None)
    assert run.history.meta["system"] == "kafka:4.3.1@4.3@3-controllers"
    active = [event.node for event in Controls.among(trace)]
    assert len(set(active)) > 1
    assert set(active) <= {0, 1, 2}
    elections = [(event.partition, event.leader_epoch) for event in Elect.among(trace)]
    assert len(elections) == len(set(elections)) > 1
    logs = {event.node: event for event in MetadataLog.among(trace)}
    assert sorted(logs) == [0, 1, 2, 3]
    assert all(log.entries[-1][1] >= log.hw > 0 for log in logs.values())
    assert all(log.snapshots for log in logs.values())
