"""What is asked of clients takes the place of what is drawn, and of nothing else."""

from dataclasses import replace

import pytest

from tidemark.nemesis import AskedWorkload, Fault, Plan, PlanError, WorkloadSpec, generate_plan
from tidemark.nodes.core.cluster import ClusterSpec

PLAN = Plan(0, 1, 7, "intact", ClusterSpec(), WorkloadSpec(), (Fault("crash", 400_000, 100_000),), 1_000_000)


def test_nothing_asked_leaves_the_plan_as_it_is():
    plan = generate_plan(1, 4, "intact", ClusterSpec())

    assert AskedWorkload().of(plan) == plan
    assert not AskedWorkload()


def test_a_rate_is_a_pause_and_the_faults_keep_their_length_and_share_of_the_time():
    busy = AskedWorkload(producers=5, rate=40, batch=7, duration=2.5).of(PLAN)

    assert busy == replace(
        PLAN,
        workload=replace(PLAN.workload, producers=5, interval_us=25_000, batch=7),
        faults=(Fault("crash", 1_000_000, 100_000),),
        faults_end_us=2_500_000,
    )


def test_it_is_typed_and_stored_as_it_was_asked_for():
    asked = AskedWorkload(rate=40.0, duration=0.5)

    assert asked.options() == ["--rate", "40", "--duration", "0.5"]
    assert asked.to_json() == {"rate": 40.0, "duration": 0.5}
    assert AskedWorkload.from_json(asked.to_json()) == asked


def test_what_nobody_can_run_is_refused():
    with pytest.raises(PlanError, match="at most 1000 producers"):
        AskedWorkload(producers=1001).of(PLAN)
    with pytest.raises(PlanError, match="colour"):
        AskedWorkload.from_json({"colour": 3})


def test_what_chance_would_send_makes_way_for_what_was_asked_for():
    plans = [generate_plan(7, index, "log-dirs", ClusterSpec()) for index in range(40)]
    with_sends = [plan for plan in plans if plan.workload.sends]
    asked = [AskedWorkload(producers=1, rate=2).of(plan) for plan in with_sends]

    assert with_sends
    assert {(plan.workload.producers, plan.workload.interval_us, plan.workload.sends) for plan in asked} == {
        (1, 500_000, None)
    }
