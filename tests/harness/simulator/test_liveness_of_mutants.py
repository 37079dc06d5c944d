"""A cluster that stops doing what it has to do while faults strike: the checkers notice, though all comes to rest in the end."""

import pytest

from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import Fault, Plan, WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.controller.elections import Controller
from tidemark.nodes.core.leader import Leadership

SECOND = 1_000_000
PRESETS = ("kafka-2.7", "kafka-3.7", "kafka-4.0")
WORK = WorkloadSpec(producers=3, interval_us=60_000)
LEADER_AWAY = Plan(0, 0, 7, "by hand", ClusterSpec(), WORK, (Fault("crash", SECOND, 6 * SECOND, "leader"),), 8 * SECOND)
FOLLOWER_AWAY = Plan(
    0, 0, 7, "by hand", ClusterSpec(), WORK, (Fault("from-peers", SECOND, 6 * SECOND, "b3"),), 8 * SECOND
)
ELECTION = Plan(0, 0, 7, "by hand", ClusterSpec(), WORK, (Fault("crash", SECOND, 500_000, "b3"),), 12 * SECOND)


def names(plan, variant):
    return {one.name for one in execute(plan, variant).verdict.anomalies}


@pytest.mark.parametrize("plan", [LEADER_AWAY, FOLLOWER_AWAY, ELECTION])
@pytest.mark.parametrize("variant", PRESETS)
def test_the_presets_go_on(plan, variant):
    assert execute(plan, variant).verdict.valid != "invalid"


@pytest.mark.parametrize("variant", PRESETS)
def test_a_controller_that_ends_no_session(variant, monkeypatch):
    monkeypatch.setattr(Controller, "_overdue", lambda *_: False)

    assert "no-leader" in names(LEADER_AWAY, variant)


@pytest.mark.parametrize("variant", PRESETS)
def test_a_leader_that_shrinks_no_isr(variant, monkeypatch):
    monkeypatch.setattr(Leadership, "_maybe_shrink", lambda *_: None)

    assert names(FOLLOWER_AWAY, variant) == {"isr-not-shrunk"}


@pytest.mark.parametrize("variant", PRESETS)
def test_a_leader_that_forgets_to_acknowledge(variant, monkeypatch):
    """For two seconds, long after the fault."""
    acknowledge = Leadership._acknowledge
    monkeypatch.setattr(
        Leadership,
        "_acknowledge",
        lambda self, m, base, error: None if 400 < base < 500 else acknowledge(self, m, base, error),
    )

    assert names(ELECTION, variant) == {"not-acknowledged"}
