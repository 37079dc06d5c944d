"""Deletions that are acknowledged before all replicas in service have followed."""

import pytest

from tidemark.checkers import History, Op, check
from tidemark.harness.simulator.execute import execute
from tidemark.nemesis import generate_plan
from tidemark.nodes.core.cluster import ClusterSpec
from tidemark.nodes.core.leader import Leadership

LEADER = (12, 1, "log-start", "t-0", 5, 0, "delete-records")


def found(*trace, how="ok", **meta):
    value = (("delete", "t-0", 5),)
    ops = [Op(10, "d1", "invoke", "delete", value), Op(20, "d1", how, "delete", value)]
    told = check(History.of(ops=ops, trace=trace, replicas={"t-0": [1, 2]}, **meta)).anomalies
    return [(one.evidence["node"], one.evidence["start"]) for one in told if one.name == "half-deleted"]


def follows(time, start):
    return (time, 2, "log-start", "t-0", start, 0, "leader")


def test_every_replica_has_deleted_before_the_client_is_told():
    assert found(LEADER, follows(20, 5)) == []
    assert found(LEADER, follows(21, 5)) == [(2, 0)]
    assert found(LEADER, follows(15, 4)) == [(2, 4)]
    assert found(LEADER) == [(2, 0)]


def test_a_client_that_was_told_nothing_was_promised_nothing():
    assert found(LEADER, how="info") == []


@pytest.mark.parametrize(
    "event",
    [
        (8, 2, "stop", "", "crash"),
        (20, 2, "pause", ""),
        (9, 0, "fence", "", 2),
        (9, 0, "isr-change", "t-0", (1,), (), 2),
        (9, 0, "reassign", "t-0", (1, 3), (), ()),
    ],
    ids=["stopped", "paused", "fenced", "left", "moved"],
)
def test_who_was_out_of_service_is_not_waited_for(event):
    assert found(*sorted([LEADER, event])) == []


def test_who_is_out_of_service_only_after_that_is_judged():
    assert found(LEADER, (21, 2, "stop", "", "crash")) == [(2, 0)]
    assert found(LEADER, world="docker") == [], "where several machines wrote the trace nobody knows what came first"


def test_a_random_plan_shows_a_leader_that_answers_as_soon_as_it_has_deleted(monkeypatch):
    plans = [generate_plan(1, index, "deletions", ClusterSpec()) for index in range(12)]

    def shown():
        names = [one.name for plan in plans for one in execute(plan, "kafka-4.0+repaired").verdict.anomalies]
        return "half-deleted" in names

    assert not shown()

    def answers(self):
        for offset, request, _ in self.parked_deletes:
            self._answer_delete(request, offset, None)
        self.parked_deletes = []

    monkeypatch.setattr(Leadership, "_answer_deletes", answers)

    assert shown()
