"""Faults on a broker's talks with the controller, in whole runs: they change them, and nothing of them stays."""

import pytest

from tidemark.harness.simulator import simulate
from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import Fault, Plan, WorkloadSpec, generate_plan
from tidemark.nemesis.kinds import CONTROLLER_LINKS
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.variant import parse_variant

MS = 1_000


def plan(*faults, end=4_000 * MS):
    return Plan(0, 0, 7, "by hand", ClusterSpec(), WorkloadSpec(), faults, end)


def events(run, kind, node=None):
    return [event for event in run.history.trace if event[2] == kind and node in (None, event[1])]


@pytest.mark.parametrize("pick", [0, 1, 2])
@pytest.mark.parametrize("kind", CONTROLLER_LINKS)
@pytest.mark.parametrize("variant", ["kafka-2.0", "kafka-2.7", "kafka-4.0"])
def test_each_changes_a_run_and_ends(kind, pick, variant):
    amount = 400 * MS if kind.startswith(("late", "slow")) else 900 if kind.startswith("lossy") else 0
    others = (Fault("from-peers", 700 * MS, 1_900 * MS, "b2"), Fault("crash", 1_000 * MS, 600 * MS, "b3"))
    disturbed = tuple(Fault(kind, 500 * MS, 3_000 * MS, f"b{b}", pick, amount=amount) for b in (1, 2, 3))
    run = execute(plan(*others, *disturbed), variant)

    assert run.digest != execute(plan(*others), variant).digest
    assert run.verdict.valid == "valid"


def test_a_lost_heartbeat_fences():
    run = simulate(plan(Fault("lost-heartbeats", 500 * MS, 2_500 * MS, "b2", pick=1)), parse_variant("kafka-4.0"))

    assert [event[4] for event in events(run, "fence")] == [2]


def test_late_answers_to_heartbeats_do_not():
    run = simulate(
        plan(Fault("late-heartbeats", 500 * MS, 2_500 * MS, "b2", 2, amount=900 * MS)), parse_variant("kafka-4.0")
    )

    assert events(run, "fence") == []


def test_a_lost_answer_leaves_the_leader_with_what_it_asked_for_until_it_hears_otherwise():
    """The controller's ISR is smaller already; the leader does not know, and counts the old one."""
    cut = Fault("from-peers", 600 * MS, 3_000 * MS, "b2")
    lost = Fault("lost-isr-changes", 600 * MS, 3_000 * MS, "b1", pick=2)
    both = simulate(plan(cut, lost, Fault("lost-leadership", 600 * MS, 3_000 * MS, "b1")), parse_variant("kafka-4.0"))
    (shrunk,) = [event for event in events(both, "isr-change") if event[4] == (1, 3)]

    heard = [event for event in events(both, "isr", 1) if event[4] == (1, 3)]
    assert heard == [] or heard[0][0] > 3_500 * MS > shrunk[0]


def test_a_lost_registration_keeps_a_broker_out_until_it_ends():
    crash = Fault("crash", 600 * MS, 400 * MS, "b2")
    run = simulate(
        plan(crash, Fault("lost-registrations", 600 * MS, 2_000 * MS, "b2", pick=1)), parse_variant("kafka-4.0")
    )

    assert [event[0] > 2_600 * MS for event in events(run, "register") if event[4] == 2] == [False, True]


def test_random_plans_with_them_keep_what_a_repaired_protocol_promises():
    for index in range(60):
        for variant in ("kafka-2.7", "kafka-4.0+forget-log-ends"):
            assert execute(generate_plan(1, index, "controller-links", ClusterSpec()), variant).verdict.valid == "valid"
