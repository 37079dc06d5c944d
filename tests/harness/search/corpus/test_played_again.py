"""A kept plan is what it was, or it is told what it is instead."""

from dataclasses import replace
from functools import cache

import pytest

from tidemark.harness.search.corpus import KeptPlan, replay
from tidemark.harness.search.corpus.played_again import BROKEN, CHANGED, GONE, RAISED, SAME, witness
from tidemark.harness.search.shrink.cause import Cause
from tidemark.nemesis import Fault, Plan, Send
from tidemark.nemesis.plan import WorkloadSpec
from tidemark.nodes.core.cluster import ClusterSpec

LOSES = Plan(
    index=0,
    seed=0,
    noise_seed=1,
    profile="by hand",
    cluster=ClusterSpec(),
    workload=WorkloadSpec(sends=(Send(100_000),), producers=1, consumers=0),
    faults=(Fault("fast-failover", 400_000, target="follower", pick=3),),
    faults_end_us=400_000,
    fixed_delay_us=2_000,
)
"""KIP-101's loss: two elections before the high watermark has come round."""


@cache
def shown():
    found = witness(LOSES, "kafka-0.10", None)
    assert found is not None
    return found


def kept(**changes):
    cause, message = shown()
    one = KeptPlan(LOSES, "kafka-0.10", None, cause, message, "by hand", "", repaired="kafka-2.7")
    return replace(one, **changes)


def test_the_plan_loses_a_record():
    assert shown()[0].name == "lost-committed-write"


def test_the_same_anomaly_of_the_same_cause_is_the_same():
    replayed = replay(kept())

    assert replayed == (SAME, "", True, "")
    assert replayed.is_as_kept


def test_another_cause_is_a_change():
    other = replace(shown()[0], facts=("a goblin ate it",))
    replayed = replay(kept(cause=other))

    assert (replayed.status, replayed.instead) == (CHANGED, str(shown()[0]))
    assert not replayed.is_as_kept


def test_another_anomaly_is_a_change():
    assert replay(kept(cause=Cause("divergence", "violation", None, ("x",)))).status == CHANGED


def test_the_same_of_another_verdict_is_a_change():
    assert replay(kept(cause=replace(shown()[0], verdict="permitted"))).status == CHANGED


def test_where_nothing_is_shown_any_more_it_is_gone():
    replayed = replay(kept(variant="kafka-2.7", repaired=None))

    assert replayed == (GONE, "valid", None, "")


def test_a_plan_that_must_stay_valid_does_or_is_broken():
    assert replay(kept(variant="kafka-2.7", cause=None)).status == SAME
    broken = replay(kept(cause=None))
    assert (broken.status, broken.instead) == (BROKEN, str(shown()[0]))


def test_a_near_miss_that_hits_is_broken():
    assert replay(kept(cause=replace(shown()[0], verdict="near-miss"))).status == BROKEN


def test_a_repair_that_repairs_nothing_is_told():
    replayed = replay(kept(repaired="kafka-0.10"))

    assert (replayed.status, replayed.repaired, replayed.repaired_instead) == (SAME, False, str(shown()[0]))
    assert not replayed.is_as_kept


def test_a_run_that_raises_is_told(monkeypatch):
    def fall(*_):
        raise RuntimeError("the simulator tripped")

    monkeypatch.setattr("tidemark.harness.search.corpus.played_again.execute", fall)

    assert replay(kept()) == (
        RAISED,
        "RuntimeError: the simulator tripped",
        False,
        "RuntimeError: the simulator tripped",
    )


@pytest.mark.parametrize(("name", "because"), [("divergence", None), (None, "a goblin ate it")])
def test_there_is_no_witness_of_what_is_not_shown(name, because):
    assert witness(LOSES, "kafka-0.10", None, name, because) is None


def test_a_witness_is_found_by_its_cause_in_a_line():
    cause, _ = shown()

    assert witness(LOSES, "kafka-0.10", None, cause.name, "; ".join(cause.facts)) == shown()
