"""Kafka's brokers go on from one run into the next, which has nothing of the first."""

import pytest

from tidemark.harness.live.session import ContainerSession
from tidemark.harness.systems.registry import find_system
from tidemark.nemesis import Fault, Plan, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec

pytestmark = [pytest.mark.docker, pytest.mark.kafka, pytest.mark.slow, pytest.mark.systems]

S = 1_000_000


@pytest.mark.parametrize("version", ["3.9.2", "4.3.1"])
def test_the_second_run_is_whole_by_itself(version, kafka_image, tmp_path):
    kafka_image(version)
    system = find_system(f"kafka:{version}")
    variant = system.variant(system.default_variant)
    of_brokers = tuple(Fault("crash", at * S, S, target=node) for at, node in ((1, "b1"), (3, "b2")))
    crashes = (*of_brokers, Fault("controller-crash", 5 * S, S))
    plans = [
        Plan(0, 0, 1, "by hand", ClusterSpec(), WorkloadSpec(4, 1, 100_000), faults, 7 * S).scaled(system.time_scale)
        for faults in (crashes, (), crashes)
    ]
    with ContainerSession(3, system=system, tell=lambda _: None, go_on=True) as session:
        runs = [session.execute(plan, variant, folder=tmp_path / str(n)) for n, plan in enumerate(plans)]

    assert [run.history.meta.get("runs_before") for run in runs] == [None, 1, 2]
    for run in runs:
        assert (run.verdict.valid, run.verdict.unknown_because) == ("valid", None)
        trace = run.history.trace
        elections = [event for event in trace if event[2] == "elect"]
        assert elections[0][5] == 0, "the first leader epoch of its own topic"
        assert {event[4] for event in trace if event[2] == "register"} == {1, 2, 3}
        assert {event[1] for event in trace if event[2] == "start"} == {1, 2, 3}
        assert min(event[0] for event in trace) > -60 * S, "nothing of the run before"
